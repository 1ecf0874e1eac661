/**
 * The script of the pages. It fetches the open page every few seconds and replaces what is live, keeping focus and
 * scroll position; applies a filter while it is typed; stops in a hidden tab and while it is paused; and shows an alert
 * while the exporter does not respond.
 */
export const REFRESH_SCRIPT = `(() => {
'use strict';
const REFRESH_MS = 5000;
const TYPING_MS = 250;
const byId = (id) => document.getElementById(id);
const pause = byId('pause');
const form = document.querySelector('form');
let timer;
let filterTimer;
let isPaused = false;

const applyPage = (page) => {
  const focused = document.activeElement?.id;
  for (const old of document.querySelectorAll('[data-live]')) {
    const fresh = page.getElementById(old.id);
    // Screen readers announce each replacement of the summary.
    if (!old.isEqualNode(fresh)) old.replaceChildren(...fresh.childNodes);
  }
  document.title = page.title;
  byId('icon').href = page.getElementById('icon').href;
  if (focused && document.activeElement?.id !== focused) byId(focused)?.focus({ preventScroll: true });
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
  const page = await fetchPage(url).catch(() => undefined);
  // The filter has changed meanwhile: another refresh is under way.
  if (url !== location.href) return;
  if (page !== undefined) applyPage(page);
  byId('unreachable').hidden = page !== undefined;
  scheduleRefresh();
};

const scheduleRefresh = () => {
  clearTimeout(timer);
  if (!isPaused && !document.hidden) timer = setTimeout(refresh, REFRESH_MS);
};

const refreshUnlessStopped = () => {
  clearTimeout(timer);
  if (!isPaused && !document.hidden) refresh();
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
document.addEventListener('visibilitychange', refreshUnlessStopped);
pause.hidden = false;
pause.addEventListener('click', () => {
  isPaused = !isPaused;
  pause.setAttribute('aria-pressed', String(isPaused));
  refreshUnlessStopped();
});
scheduleRefresh();
})();`;
