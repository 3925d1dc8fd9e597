// Moves dots along the curves and updates the counts; the rest of the page needs no script.
(() => {
  "use strict";
  const page = JSON.parse(document.getElementById("aucmax-data").textContent);
  const nNegative = page.n_rows - page.n_positive;
  const count = (number) => Math.round(number).toLocaleString("en-US");
  const percent = (share) => share === null ? "-" : `${(100 * share).toFixed(1)}%`;

  // a dot on a figure, moved by values in the units of its axes
  function addDot(svg, colour) {
    const [left, bottom, xUnit, yUnit] = svg.dataset.plane.split(" ").map(Number);
    const dot = document.createElementNS("http://www.w3.org/2000/svg", "circle");
    dot.setAttribute("class", "dot");
    dot.setAttribute("r", 5);
    dot.style.fill = colour;
    svg.append(dot);
    return (x, y) => {
      dot.setAttribute("cx", left + xUnit * x);
      dot.setAttribute("cy", bottom - yUnit * y);
    };
  }

  const roc = document.getElementById("aucmax-roc");
  const gains = document.getElementById("aucmax-gains");
  const slider = document.getElementById("aucmax-slider");
  const number = document.getElementById("aucmax-number");
  const rows = page.models.map((model, k) => ({
    model,
    cells: [...document.querySelectorAll(`#aucmax-row-${k} [data-cell]`)],
    onRoc: addDot(roc, `var(--c${k})`),
    onGains: addDot(gains, `var(--c${k})`),
  }));

  function show(place) {
    for (const { model, cells, onRoc, onGains } of rows) {
      for (const cell of cells) {
        const name = cell.dataset.cell, write = name === "precision" ? percent : count;
        cell.querySelector(".cell").textContent = write(model[name][place]);
        const ends = model[`${name}_ends`];
        if (ends) cell.querySelector(".soft").textContent = ends[place].map(write).join(" to ");
      }
      const found = model.tp[place];
      onRoc(model.fp[place] / nNegative, found / page.n_positive);
      onGains(model.alerts[place], found);
    }
    slider.setAttribute("aria-valuetext", `${count(page.depths[place])} cases`);
  }

  slider.addEventListener("input", () => {
    number.value = page.depths[slider.value];
    show(Number(slider.value));
  });
  number.addEventListener("input", () => {
    // the largest depth that is at most the number
    const place = page.depths.findLastIndex((depth) => depth <= Number(number.value));
    if (place < 0) return;
    slider.value = place;
    show(place);
  });
  number.addEventListener("change", () => { number.value = page.depths[slider.value]; });
  show(Number(slider.value));

  // the point of any curve that is nearest to the pointer
  const readout = document.getElementById("aucmax-readout");
  const moveMark = addDot(roc, "var(--ink)");
  const mark = roc.lastChild;
  mark.setAttribute("visibility", "hidden");
  function look(event) {
    const [left, bottom, xUnit, yUnit] = roc.dataset.plane.split(" ").map(Number);
    const box = roc.getBoundingClientRect(), unit = roc.viewBox.baseVal.width / box.width;
    const x = ((event.clientX - box.left) * unit - left) / xUnit;
    const y = (bottom - (event.clientY - box.top) * unit) / yUnit;
    let best = null, least = Infinity;
    for (const curve of page.curves) {
      curve.fpr.forEach((fpr, k) => {
        const tpr = curve.tpr[k], distance = (fpr - x) ** 2 + (tpr - y) ** 2;
        if (distance < least) {
          least = distance;
          best = { name: curve.name, fpr, tpr, threshold: curve.thresholds[k] };
        }
      });
    }
    moveMark(best.fpr, best.tpr);
    mark.setAttribute("visibility", "visible");
    const name = document.createElement("bdi");
    name.textContent = best.name;
    const found = best.tpr * page.n_positive;
    const threshold = best.threshold === null ? "above all scores" : best.threshold;
    readout.replaceChildren(name, `: FPR ${best.fpr.toFixed(4)}, TPR ${best.tpr.toFixed(4)}, threshold ${threshold}, ` +
      `${count(best.fpr * nNegative + found)} alerts, ${count(found)} of them positive`);
  }
  roc.addEventListener("pointermove", look);
  roc.addEventListener("pointerdown", look);
  roc.addEventListener("pointerleave", () => mark.setAttribute("visibility", "hidden"));
  document.body.classList.add("with-script");
})();
