/**
 * The script of the pages. It fetches the open page every few seconds and changes the nodes that differ, so that
 * nothing flickers and focus, selection and scroll position stay; applies a filter while it is typed; stops in a
 * hidden tab and while it is paused; shows an alert while the exporter does not respond; and lets the arrow keys go
 * through the polls of a focused plot.
 *
 * Its own `morph`: every page contains the script, and morphdom (12 kB minified) or idiomorph (11 kB) would make it four
 * times as large.
 */
export const REFRESH_SCRIPT = `(() => {
'use strict';
const REFRESH_MS = 5000;
const TYPING_MS = 250;
const unreachable = document.getElementById('unreachable');
const pause = document.getElementById('pause');
const form = document.querySelector('form');
let timer;
let filterTimer;
let isPaused = false;

const morph = (old, fresh) => {
  if (old.isEqualNode(fresh)) return;
  if (old.nodeName !== fresh.nodeName) return old.replaceWith(document.importNode(fresh, true));
  if (old.nodeType !== Node.ELEMENT_NODE) {
    old.nodeValue = fresh.nodeValue;
    return;
  }
  for (const { name } of [...old.attributes]) if (!fresh.hasAttribute(name)) old.removeAttribute(name);
  for (const { name, value } of fresh.attributes) {
    if (old.getAttribute(name) !== value) old.setAttribute(name, value);
  }
  const [oldChildren, newChildren] = [[...old.childNodes], [...fresh.childNodes]];
  newChildren.forEach((node, index) => {
    if (index < oldChildren.length) morph(oldChildren[index], node);
    else old.append(document.importNode(node, true));
  });
  for (const node of oldChildren.slice(newChildren.length)) node.remove();
};

// The plot that the keyboard explores, and the poll that it shows, counted from the latest.
let explored = { id: '', back: 0 };

const showPoll = () => {
  const plot = document.activeElement;
  if (!plot?.matches('svg.large')) return;
  const points = [...plot.querySelectorAll('.point')];
  if (plot.id !== explored.id) explored = { id: plot.id, back: 0 };
  explored.back = Math.min(Math.max(explored.back, 0), points.length - 1);
  const current = points[points.length - 1 - explored.back];
  for (const point of points) point.classList.toggle('current', point === current);
  if (explored.back > 0) plot.setAttribute('aria-label', current.textContent);
};

const STEPS = { ArrowLeft: 1, ArrowRight: -1 };
document.addEventListener('keydown', ({ key }) => {
  if (!(key in STEPS) || !document.activeElement?.matches('svg.large')) return;
  showPoll();
  explored.back += STEPS[key];
  showPoll();
});

const applyPage = (page) => {
  const focused = document.activeElement?.id;
  for (const old of document.querySelectorAll('[data-live]')) {
    const fresh = page.getElementById(old.id);
    if (fresh !== null) morph(old, fresh);
  }
  document.title = page.title;
  showPoll();
  if (focused && document.activeElement?.id !== focused) {
    document.getElementById(focused)?.focus({ preventScroll: true });
  }
};

const fetchPage = async (url) => {
  const response = await fetch(url, { cache: 'no-store', signal: AbortSignal.timeout(2 * REFRESH_MS) });
  // The service code is no longer configured: show the page that says so.
  if (response.status === 404) location.reload();
  if (!response.ok) throw new Error('HTTP ' + response.status);
  return new DOMParser().parseFromString(await response.text(), 'text/html');
};

const refresh = async () => {
  clearTimeout(timer);
  const url = location.href;
  try {
    const page = await fetchPage(url);
    // The filter has changed meanwhile: another refresh is under way.
    if (url !== location.href) return;
    applyPage(page);
    unreachable.hidden = true;
  } catch {
    if (url !== location.href) return;
    unreachable.hidden = false;
  }
  scheduleRefresh();
};

const scheduleRefresh = () => {
  clearTimeout(timer);
  if (!isPaused && !document.hidden) timer = setTimeout(refresh, REFRESH_MS);
};

const applyFilter = () => {
  const parameters = new URLSearchParams(new FormData(form));
  for (const [key, value] of [...parameters]) if (value === '') parameters.delete(key);
  history.replaceState(null, '', parameters.size === 0 ? '/' : '/?' + parameters);
  refresh();
};

form?.addEventListener('input', () => {
  clearTimeout(filterTimer);
  filterTimer = setTimeout(applyFilter, TYPING_MS);
});
document.addEventListener('visibilitychange', () => {
  clearTimeout(timer);
  if (!isPaused && !document.hidden) refresh();
});
pause.hidden = false;
pause.addEventListener('click', () => {
  isPaused = !isPaused;
  pause.setAttribute('aria-pressed', String(isPaused));
  if (isPaused) clearTimeout(timer);
  else refresh();
});
scheduleRefresh();
})();`;
