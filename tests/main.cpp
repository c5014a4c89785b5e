// The main function of weft_unit, weft_conformance, weft_narrow and weft_apps_test, compiled once. `weft_unit --help`
// shows doctest's filters.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>
