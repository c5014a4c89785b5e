"""Files that are there whole, or as they were before."""
import os
import pathlib
import tempfile


def write_whole(path: pathlib.Path, text: str) -> None:
    """Beside it first, under another name: a full disk leaves the old file. Follows links, keeps the rights."""
    path = path.resolve()
    handle, part = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with open(handle, "w") as out:
            out.write(text)
        os.chmod(part, path.stat().st_mode & 0o777 if path.exists() else 0o644)
        os.replace(part, path)
    except BaseException:
        os.unlink(part)
        raise
