// Runs every registered case (see check.hpp).
#include <cstdio>
#include <exception>
#include <string>

#include "tests/check.hpp"

int main(int argc, char** argv) {
  const std::string filter = argc > 1 ? argv[1] : "";
  int passed = 0;
  int failed = 0;
  for (const check::Case& test : check::cases()) {
    if (test.name.find(filter) == std::string_view::npos) continue;
    const int before = check::failed_checks();
    try {
      test.body();
    } catch (const check::Abandon&) {
    } catch (const std::exception& error) {
      check::report(false, test.name.data(), 0, std::string{"an exception came out: "} + error.what());
    }
    const bool ok = check::failed_checks() == before;
    ++(ok ? passed : failed);
    if (!ok) std::printf("FAILED %s\n", test.name.data());
  }
  std::printf("%d passed, %d failed\n", passed, failed);
  return failed == 0 && passed > 0 ? 0 : 1;
}
