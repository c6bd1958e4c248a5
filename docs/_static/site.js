// The sections of the sidebar fold: the one with this page is open, and on the first page the first one.
document.addEventListener("DOMContentLoaded", () => {
  const captions = [...document.querySelectorAll(".sidebar-tree .caption")];
  const here = captions.find((caption) => caption.nextElementSibling.matches(".current, :has(.current)")) ?? captions[0];
  for (const caption of captions) {
    const section = document.createElement("details"), heading = document.createElement("summary");
    section.open = caption === here;
    heading.className = "caption";
    heading.append(...caption.childNodes);
    caption.before(section);
    section.append(heading, caption.nextElementSibling);
    caption.remove();
  }
  // Excerpts of search results are prose: tables and code are left out.
  if (typeof Search !== "undefined" && Search.htmlToText) {
    const textOf = Search.htmlToText;
    Search.htmlToText = (text, anchor) => {
      const page = new DOMParser().parseFromString(text, "text/html");
      page.querySelectorAll("table, pre, svg, details").forEach((element) => element.remove());
      return textOf(page.documentElement.outerHTML, anchor);
    };
  }
});
