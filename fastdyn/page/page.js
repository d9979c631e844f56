"use strict";

// Tables: a click on a column's head sorts by it, a second click reverses; blank cells stay last.
const value = (body, column) => {
  const cell = body.rows[0].cells[column];
  const number = cell.dataset.value;
  return number === undefined ? cell.textContent.trim() : Number(number);
};

const compare = (a, b) =>
  typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b), "en", { numeric: true });

for (const table of document.querySelectorAll("table")) {
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => {
    head.querySelector("button").addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") === "ascending";
      for (const other of heads) other.setAttribute("aria-sort", "none");
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const rows = [...table.tBodies].map((body) => ({ body, key: value(body, column) }));
      rows.sort((a, b) => (a.key === "") - (b.key === "") || (down ? compare(b.key, a.key) : compare(a.key, b.key)));
      table.append(...rows.map((row) => row.body));
    });
  });
}

// Light or dark: the system's setting until the reader chooses; remembered if the browser allows it.
const root = document.documentElement;
const remembered = {
  get() { try { return localStorage.getItem("fastdyn-theme"); } catch { return null; } },
  set(theme) { try { localStorage.setItem("fastdyn-theme", theme); } catch { /* pages from disk may not */ } },
};
if (remembered.get()) root.dataset.theme = remembered.get();
document.querySelector(".theme").addEventListener("click", () => {
  const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
  remembered.set(root.dataset.theme);
});

// Contents: collapsed on a phone; the section in view is marked.
if (matchMedia("(max-width: 62rem)").matches) document.querySelector(".contents")?.removeAttribute("open");
const links = new Map([...document.querySelectorAll("nav a")].map((link) => [link.hash.slice(1), link]));
const watch = new IntersectionObserver((seen) => {
  for (const { target, isIntersecting } of seen) {
    if (!isIntersecting) continue;
    for (const link of links.values()) link.removeAttribute("aria-current");
    links.get(target.id).setAttribute("aria-current", "true");
  }
}, { rootMargin: "-20% 0px -70% 0px" });
for (const section of document.querySelectorAll("main section")) watch.observe(section);
