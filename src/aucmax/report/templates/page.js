// Moves along the curves and updates the counts; the rest of the page needs no script.
(() => {
  "use strict";
  const page = JSON.parse(document.getElementById("aucmax-data").textContent);
  const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  const MORE = 32;
  const negatives = page.rows - page.positives;

  // the steps of a ranking, as ranked_steps.py writes them
  function readSteps(text) {
    const opened = [], found = [], kinds = [];
    let place = 0, rows = 0, positives = 0;
    const next = () => {
      let number = 0, unit = 1, digit;
      do {
        digit = ALPHABET.indexOf(text[place++]);
        number += (digit % MORE) * unit;
        unit *= MORE;
      } while (digit >= MORE);
      return number;
    };
    while (place < text.length) {
      const head = next(), kind = head % 4, length = (head - kind) / 4;
      opened.push(rows); found.push(positives); kinds.push(kind);
      const more = kind === 1 ? length : kind === 2 ? next() : 0;
      rows += kind === 1 ? length : length + more;
      positives += more;
    }
    return { opened, found, kinds, rows, positives };
  }

  // the top rows, at most `wanted`, without cutting a tie
  function open(steps, wanted) {
    if (wanted >= steps.rows) return { opened: steps.rows, found: steps.positives };
    let low = 0, high = steps.opened.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (steps.opened[middle] <= wanted) low = middle; else high = middle - 1;
    }
    const inside = steps.kinds[low] === 2 ? 0 : wanted - steps.opened[low];
    return {
      opened: steps.opened[low] + inside,
      found: steps.found[low] + (steps.kinds[low] === 1 ? inside : 0),
    };
  }

  // Wilson's interval, as aucmax.decisions.wilson_interval computes it
  function wilson(share, n) {
    if (!(n > 0)) return [0, 1];
    const part = page.z * page.z / n;
    const root = page.z * Math.sqrt(share * (1 - share) / n + part / (4 * n));
    const end = (sign) => Math.min(Math.max((share + part / 2 + sign * root) / (1 + part), 0), 1);
    return [end(-1), end(1)];
  }

  const count = (number) => Math.round(number).toLocaleString("en-US");
  const percent = (share) => `${(100 * share).toFixed(1)}%`;

  function write(row, name, value, text, ends, show) {
    const cell = row.querySelector(`[data-cell="${name}"]`);
    cell.dataset.value = value;
    cell.querySelector(".cell").textContent = text;
    if (ends) {
      cell.dataset.low = ends[0];
      cell.dataset.high = ends[1];
      cell.querySelector(".soft").textContent = `${show(ends[0])} to ${show(ends[1])}`;
    }
  }

  function place(dot, plane, x, y) {
    dot.setAttribute("cx", plane.left + plane.width * x);
    dot.setAttribute("cy", plane.top + plane.height * (1 - y));
    dot.setAttribute("visibility", "visible");
  }

  const models = page.models.map((model) => ({ ...model, ranked: readSteps(model.steps) }));
  const slider = document.getElementById("aucmax-slider");
  const number = document.getElementById("aucmax-number");
  const roc = document.getElementById("aucmax-roc");
  const gains = document.getElementById("aucmax-gains");

  function show(wanted) {
    for (const model of models) {
      const { opened, found } = open(model.ranked, wanted);
      const alarms = opened - found;
      const row = document.getElementById(`aucmax-row-${model.place}`);
      const scaled = (share, n) => wilson(share, n).map((end) => end * n);
      write(row, "opened", opened, count(opened));
      write(row, "found", found, count(found), scaled(found / page.positives, page.positives), count);
      write(row, "missed", page.positives - found, count(page.positives - found));
      write(row, "alarms", alarms, count(alarms), scaled(alarms / negatives, negatives), count);
      const precision = opened ? found / opened : NaN;
      write(row, "precision", precision, opened ? percent(precision) : "-", wilson(precision, opened), percent);
      place(roc.querySelector(`.d${model.place}`), page.plane, alarms / negatives, found / page.positives);
      place(gains.querySelector(`.d${model.place}`), page.plane, opened / page.rows, found / page.positives);
    }
  }

  if (slider) {
    const set = (cases) => {
      slider.setAttribute("aria-valuetext", `${count(cases)} cases`);
      show(cases);
    };
    slider.addEventListener("input", () => {
      number.value = slider.value;
      set(Number(slider.value));
    });
    number.addEventListener("input", () => {
      const cases = Math.min(Math.floor(Number(number.value)), page.rows);
      if (!(cases >= 1)) return;
      slider.value = cases;
      set(cases);
    });
    slider.value = number.value = page.opened;
    set(page.opened);
  }

  // the point of any curve that is nearest to the pointer
  const readout = document.getElementById("aucmax-readout");
  const mark = roc && roc.querySelector(".hover");
  function nearest(event) {
    const box = roc.getBoundingClientRect();
    const unit = 440 / box.width;
    const x = ((event.clientX - box.left) * unit - page.plane.left) / page.plane.width;
    const y = 1 - ((event.clientY - box.top) * unit - page.plane.top) / page.plane.height;
    let best = null, distance = Infinity;
    for (const curve of page.curves) {
      for (const [opened, found, threshold] of curve.points) {
        const fpr = (opened - found) / negatives, tpr = found / page.positives;
        const far = (fpr - x) ** 2 + (tpr - y) ** 2;
        if (far < distance) {
          distance = far;
          best = { name: curve.name, opened, found, threshold, fpr, tpr };
        }
      }
    }
    return best;
  }
  if (roc) {
    const look = (event) => {
      const at = nearest(event);
      place(mark, page.plane, at.fpr, at.tpr);
      readout.replaceChildren();
      const name = document.createElement("bdi");
      name.textContent = at.name;
      const threshold = at.threshold === null ? "above all scores" : at.threshold;
      readout.append(name, `: FPR ${at.fpr.toFixed(4)}, TPR ${at.tpr.toFixed(4)}, threshold ${threshold}, ` +
        `${count(at.opened)} alerts, ${count(at.found)} of them positive`);
    };
    roc.addEventListener("pointermove", look);
    roc.addEventListener("pointerdown", look);
    roc.addEventListener("pointerleave", () => mark.setAttribute("visibility", "hidden"));
  }
  document.body.classList.add("with-script");
})();
