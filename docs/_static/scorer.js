// Pages whose title has the word come first, then other pages; names of the API last: who looks for "install" wants the
// installation, and not a function that happens to have the word in it.
var Scorer = {
  objNameMatch: 6,
  objPartialMatch: 2,
  objPrio: {0: 5, 1: 0, 2: -5},
  objPrioDefault: 0,
  title: 40,
  partialTitle: 30,
  term: 5,
  partialTerm: 2,
  score: function (result) {
    var page = result[0], anchor = result[2], score = result[4];
    if (/^(start|install)/.test(page)) score += anchor ? 10 : 20;
    // Pages for those who build or change the package, and reports.
    if (/^(_modules|architecture|benchmarks|changelog|extend|notes|reports|reproduction|security|wheels)/.test(page)) {
      score -= 40;
    }
    return score;
  },
};
