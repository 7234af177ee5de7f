# SPDX-License-Identifier: MIT
# What "catkin_make run_tests -j1" runs of a package: pytest over test/ and every test/ros/*.test. Included by the packages'
# CMakeLists.txt; without this file, or with CATKIN_ENABLE_TESTING off, a package is built and installed all the same.

if(CATKIN_ENABLE_TESTING)
  file(GLOB unit_tests ${PROJECT_SOURCE_DIR}/test/test_*.py)
  if(unit_tests)
    set(results ${CATKIN_TEST_RESULTS_DIR}/${PROJECT_NAME}/pytest-unit.xml)
    catkin_run_tests_target("pytest" "unit" "pytest-unit.xml"
      COMMAND "${PYTHON_EXECUTABLE} -m pytest -q ${PROJECT_SOURCE_DIR}/test --junitxml=${results}")
  endif()
  file(GLOB ros_tests RELATIVE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/test/ros/*.test)
  if(ros_tests)
    find_package(rostest REQUIRED)
    foreach(ros_test ${ros_tests})
      add_rostest(${ros_test})
    endforeach()
  endif()
endif()
