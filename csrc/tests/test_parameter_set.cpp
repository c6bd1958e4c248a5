// Parameters that declare themselves: one member is a row of the registry and its value.
#include <string>

#include "core/error.hpp"
#include "core/parameter_set.hpp"
#include "tests/check.hpp"

namespace {

using namespace dragonfly;

struct Several : ParameterSet {
  using ParameterSet::ParameterSet;
  Real share{this, {"share", 0.5, "of packets", "a share", between(0, 1)}};
  Count tries{this, {"tries", 2.0, "", "how often", whole(1, 4)}};
  Flag loud{this, {"loud", false, "", "a flag"}};
  Choice route{this, {"way", std::string{"over"}, "", "a name", among({"under", "over"})}};
  Flag avoids{this, {"avoids", std::string{"network"}, "", "as the network says, if not given"}};
};

struct Owner {
  std::string name = "several";
  std::vector<ParameterInfo> parameters = rows_of<Several>();
};

std::string refusal(const Parameters& given) {
  const Owner owner;
  try {
    const Several values{owner, given};
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "";
}

TEST(members_are_rows_in_the_order_of_their_declaration) {
  const Owner owner;
  CHECK_EQ(owner.parameters.size(), 5U);
  CHECK_EQ(owner.parameters[0].name, std::string{"share"});
  CHECK_EQ(owner.parameters[0].unit, std::string{"of packets"});
  CHECK_EQ(owner.parameters[1].range.high, 4.0);
  CHECK(owner.parameters[1].range.whole);
  CHECK_EQ(owner.parameters[3].range.names.size(), 2U);
}

TEST(a_value_is_what_is_given_or_the_default_of_the_owners_row) {
  Owner owner;
  const Several usual{owner, {}, true};
  CHECK_EQ(usual.share + 1, 1.5);
  CHECK_EQ(std::uint32_t{usual.tries}, 2U);
  CHECK(!usual.loud);
  CHECK_EQ(std::uint32_t{usual.route}, 1U);
  CHECK(usual.avoids);  // the network's setting
  const Several told{owner, {{"avoids", false}, {"way", std::string{"under"}}}, true};
  CHECK(!told.avoids);
  CHECK_EQ(std::uint32_t{told.route}, 0U);
  owner.parameters[0].default_value = 0.25;  // another name of the policy may have another default
  const Several other{owner, {}};
  CHECK_EQ(double{other.share}, 0.25);
}

TEST(a_copy_has_the_values_and_needs_nothing_that_they_came_from) {
  const Owner owner;
  const auto made = [&owner] { return Several{owner, {{"tries", 3.0}}}; };
  Several copy = made();
  copy.share = 0.75;
  const Several again = copy;
  CHECK_EQ(std::uint32_t{again.tries}, 3U);
  CHECK_EQ(double{again.share}, 0.75);
}

TEST(values_out_of_range_are_refused_by_name_value_and_range) {
  const Parameters too_large{{"share", 1.5}};
  const Parameters uneven{{"tries", 2.5}};
  const Parameters too_few{{"tries", 0.0}};
  const Parameters unknown{{"way", std::string{"through"}}};
  const Parameters another_type{{"loud", 1.0}};
  const Parameters at_the_limit{{"share", 1.0}, {"tries", 4.0}};
  CHECK_EQ(refusal(too_large), std::string{"several.share = 1.5: a number from 0 to 1"});
  CHECK_EQ(refusal(uneven), std::string{"several.tries = 2.5: a whole number from 1 to 4"});
  CHECK_EQ(refusal(too_few), std::string{"several.tries = 0: a whole number from 1 to 4"});
  CHECK_EQ(refusal(unknown), std::string{"several.way = 'through': one of 'under' 'over'"});
  CHECK(refusal(another_type).starts_with("several.loud = "));
  CHECK_EQ(refusal(at_the_limit), std::string{});
}

}  // namespace
