# What judges the tree and not what runs: what compiling costs, installs, the house's rules, planted faults.

# what compiling costs
weft_test(header_cost tidy ${python} ${tests}/header_cost.py --compiler ${CMAKE_CXX_COMPILER} --include
          ${PROJECT_SOURCE_DIR}/include)
weft_test(long/includes long ${python} ${tests}/includes.py --build ${PROJECT_BINARY_DIR})

# install
set(install ${python} ${tests}/install/run.py --build ${PROJECT_BINARY_DIR} --cmake ${CMAKE_COMMAND}
    --compiler ${CMAKE_CXX_COMPILER})
weft_test(install install ${install})
weft_test(long/install long ${install} --shared)

# tidy
weft_test(tidy tidy ${python} ${tests}/tidy.py)
weft_test(tidy/self-test tidy ${python} ${tests}/tidy.py --self-test)
weft_test(tidy/format tidy ${python} ${tests}/format.py)
weft_test(tidy/walk tidy ${python} ${tests}/walk.py)
weft_test(tidy/walk/self-test tidy ${python} ${tests}/walk.py --self-test)
weft_test(tidy/site tidy ${python} ${tests}/site.py)
weft_test(tidy/site/self-test tidy ${python} ${tests}/site.py --self-test)
weft_test(tidy/messages tidy ${python} ${tests}/messages.py)
weft_test(tidy/messages/self-test tidy ${python} ${tests}/messages.py --self-test)
weft_test(tidy/papers tidy ${python} ${PROJECT_SOURCE_DIR}/papers/claims_test.py)

# planted faults: a build of its own under build/planted, made by hand
set(planted ${python} ${tests}/planted/faults.py)
weft_test(planted/self-test tidy ${planted} self-test)
