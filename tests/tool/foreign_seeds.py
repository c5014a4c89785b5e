"""Of each format that `weft import` reads a small file: what its test expects the trace of, and the fuzzer spoils."""
import json

STG = """3
0 0 0
1 4 1 0
2 6 1 0   # a comment
3 5 2 1 2
4 0 1 3
"""
DOT = """// weights are times
digraph "small" { graph [x=1]; node [Weight=3];
  a; b [weight=5, label="B\\nmore"]; /* two
  lines */ "c d" [Weight="2.5"];
  a -> {b "c d"} [Weight=7];
  subgraph cluster_x { e [Weight=1] }
  b -> e; "c d" -> e
}
"""
CSV = """task,name,duration,reads,writes,adds,after
a,make,1000,,x,,
b,use,2000,x,,s,
c,use,3000,x,y,s,
d,"end, of all",500,y s,x,,b
"""
WORKFLOW = {
    "name": "small", "schemaVersion": "1.5",
    "workflow": {
        "specification": {"tasks": [
            {"name": "join_ID02", "id": "join_ID02", "parents": ["split_ID00", "split_ID01"], "children": []},
            {"name": "split_ID00", "id": "split_ID00", "parents": [], "children": ["join_ID02"], "inputFiles": ["f"]},
            {"name": "split_ID01", "id": "split_ID01", "parents": [], "children": ["join_ID02"]}]},
        "execution": {"makespanInSeconds": 5.5, "tasks": [
            {"id": "split_ID00", "runtimeInSeconds": 2.0, "coreCount": 2, "machines": ["m"]},
            {"id": "split_ID01", "runtimeInSeconds": 3}, {"id": "join_ID02", "runtimeInSeconds": 1.5}],
            "machines": [{"nodeName": "m", "cpu": {"coreCount": 2}}]}}}
OLD_WORKFLOW = {
    "name": "old", "schemaVersion": "1.0",
    "workflow": {"makespan": 4, "machines": [{"nodeName": "m", "cpu": {"count": 4}}], "jobs": [
        {"name": "a", "type": "compute", "runtime": 1, "parents": [], "files": []},
        {"name": "b", "type": "compute", "runtime": 2.5, "parents": ["a"], "files": []}]}}
STARPU = """Control: WontUse
JobId: 9
Handles: 0x1

Model: potrf
Name: potrf
JobId: 1
SubmitOrder: 1
SubmitTime: 0.5
StartTime: 1.000000
EndTime: 3.000000
WorkerId: 0
MemoryNode: 0
Handles: 0x1
Modes: RW
Sizes: 800

Name: trsm
JobId: 2
SubmitOrder: 2
StartTime: 3.5
EndTime: 5.5
WorkerId: 1
MemoryNode: 1
Handles: 0x1 0x2
Modes: R RW
Sizes: 800
+ 400
DependsOn: 1

Name: _starpu_sync_task
JobId: 3
DependsOn: 2

Name: last
JobId: 4
SubmitOrder: 4
StartTime: 6
EndTime: 7.25
WorkerId: 0
MemoryNode: 0
DependsOn: 3
"""
CHROME = {"traceEvents": [
    {"ph": "M", "name": "thread_name", "pid": 1, "tid": 1, "args": {"name": "main"}},
    {"ph": "X", "name": "outer", "pid": 1, "tid": 1, "ts": 100, "dur": 50},
    {"ph": "X", "name": "inner", "pid": 1, "tid": 1, "ts": 110, "dur": 10},
    {"ph": "s", "id": 7, "cat": "c", "name": "f", "pid": 1, "tid": 1, "ts": 149},
    {"ph": "B", "name": "next", "pid": 1, "tid": 2, "ts": 160.5},
    {"ph": "f", "id": 7, "cat": "c", "name": "f", "pid": 1, "tid": 2, "ts": 160.5},
    {"ph": "E", "pid": 1, "tid": 2, "ts": 200}]}
TFPROF = [{"executor": "0", "data": [
    {"worker": 0, "level": 0, "data": [{"span": [10, 30], "name": "A", "type": "static"},
                                       {"span": [50, 60], "name": "C", "type": "static"}]},
    {"worker": 3, "level": 0, "data": [{"span": [32, 45], "name": "B", "type": "static"}]}]}]
TASKFLOW = """digraph Taskflow {
subgraph cluster_p0x1 {
label="Taskflow: p0x1";
p0xa[label="A" ];
p0xa -> p0xb;
p0xb[label="B" ];
p0xb -> p0xc;
p0xc[label="C" ];
}
}
"""


def all_formats():
    return [STG, DOT, CSV, STARPU, TASKFLOW,
            *(json.dumps(x, indent=1) for x in (WORKFLOW, OLD_WORKFLOW, CHROME, CHROME["traceEvents"], TFPROF))]
