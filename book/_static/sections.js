/* Sections far down the page are not laid out before the page is alive (book.css). Then they are: links and the scroll
   bar need their true heights. */
addEventListener("load", () => {
  setTimeout(() => {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    const isThere = target && Math.abs(target.getBoundingClientRect().top) < innerHeight / 2;
    document.documentElement.classList.add("all-sections");
    if (isThere) target.scrollIntoView({ behavior: "instant" });
  }, 500);
});
