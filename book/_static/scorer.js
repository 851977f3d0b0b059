// What Sphinx's search ranks first: terms of the glossary, then the pages and sections that have the words in their
// titles, then the text of pages, and treekit's names last.
const sought = (new URLSearchParams(location.search).get("q") ?? "").trim().toLowerCase();
var Scorer = {
  score: ([, title, anchor, description, score]) => {
    const isNamed = anchor.startsWith("#term-") || (!description && title.toLowerCase().includes(sought));
    return isNamed ? 1000 + score : score;
  },
  objNameMatch: 3,
  objPartialMatch: 1,
  objPrio: { 0: 2, 1: 1, 2: 0 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
