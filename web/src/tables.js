// Tables that are sorted in the page: a click on a button in the head of a column. Only whole tables
// are: long lists are sorted by the server.
const LANGUAGE = document.documentElement.lang;

function value(row, column) {
  const cell = row.cells[column];
  return cell?.dataset.value ?? cell?.textContent.trim() ?? "";
}

function compare(a, b) {
  const [x, y] = [Number(a), Number(b)];
  if (a !== "" && b !== "" && !Number.isNaN(x) && !Number.isNaN(y)) return x - y;
  return a.localeCompare(b, LANGUAGE, { numeric: true });
}

// In a narrow window a row is a card: each value needs the head of its column beside it. A cell over
// several columns, such as "Nothing", has none.
function cards() {
  for (const table of document.querySelectorAll("main table:not(.rows, .month, .log table)")) {
    if (!table.tHead) continue;
    const heads = [...table.tHead.rows[0].cells].map((cell) => cell.textContent.trim());
    table.classList.add("rows");
    for (const row of [...table.tBodies].flatMap((body) => [...body.rows])) {
      let column = 0;
      for (const cell of row.cells) {
        if (cell.tagName === "TD" && cell.colSpan === 1 && heads[column]) cell.dataset.head ??= heads[column];
        column += cell.colSpan;
      }
    }
  }
}

export function tables() {
  cards();
  document.addEventListener("htmx:after:swap", cards);
  document.addEventListener("click", (event) => {
    const button = event.target.closest?.("table[data-sortable] thead th button");
    if (!button) return;
    const head = button.closest("th");
    const order = head.ariaSort === "ascending" ? "descending" : "ascending";
    for (const other of head.parentElement.cells) other.removeAttribute("aria-sort");
    head.ariaSort = order;
    const body = head.closest("table").tBodies[0];
    const sign = order === "ascending" ? 1 : -1;
    const rows = [...body.rows];
    rows.sort((a, b) => sign * compare(value(a, head.cellIndex), value(b, head.cellIndex)));
    body.append(...rows);
  });
}
