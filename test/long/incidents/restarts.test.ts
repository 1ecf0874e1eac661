import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readAlertRules } from '../../support/deploy-files.ts';
import { waitUntil } from '../../support/wait-until.ts';
import { Clusters, Exporter, hasLabPrograms, settle, startLab } from './incident-lab.ts';
import { IncidentService, type Fault } from './incident-service.ts';

const CODES = ['users', 'tasks', 'names', 'late', 'texts', 'failed'];
const VANISHING = ['gone-0', 'gone-1', 'gone-2'];
const STAYING = 'stays';
const UNEXPECTED = Array.from({ length: 8 }, (_, index) => `task-${index}`);

const readMinute = (ms: number): string => new Date(ms).toISOString().slice(0, 16).replace('T', ' ');

test('alerts survive restarts of Prometheus and Alertmanager, and their texts are of what fires', async (t) => {
  if (!hasLabPrograms(t)) return;
  const service = await IncidentService.start(t);
  await using exporters = new Clusters([
    ['single', [new Exporter(service.url, CODES)]],
    ['vanishing', [new Exporter(service.url, [...VANISHING, STAYING])]],
  ]);
  for (const exporter of exporters.list())
    exporter.writeCodes({ expect: { names: ['main', { name: 'backup', min_input_rate: '2Mbit/s' }] } });
  await using lab = await startLab(t, exporters);
  const { receiver, alertmanager, prometheus } = lab;
  const beginMs = performance.now();
  const subjectOf = (labels: Readonly<Record<string, string>>): string =>
    [labels['alertname'], labels['task_name'], labels['service_code']].filter(Boolean).join(' ');
  /** Lists the messages with an alert of a code, as lists of the alerts in it. */
  const listMessages = (code: string): readonly (readonly string[])[] =>
    receiver.messages
      .filter(({ alerts }) => alerts.some(({ labels }) => labels['service_code'] === code))
      .map(({ alerts }) => alerts.map(({ labels, status }) => `${status} ${subjectOf(labels)}`).toSorted());
  const waitForAlert = (code: string, alert: string) =>
    waitUntil(
      () => listMessages(code),
      (messages) => messages.some((alerts) => alerts.includes(`firing ${alert} ${code}`)),
    );
  const findDescription = (subject: string): string | undefined =>
    receiver.notifications.findLast(({ labels }) => subjectOf(labels) === subject)?.annotations[
      'description'
    ];
  const setFault = (code: string, fault?: Fault) => service.setFault([code], fault);
  assert.equal(receiver.messages.length, 0);

  // An outage, one poll of which fails.
  setFault('failed', { gone: ['main'] });
  setFault('names', { gone: ['main'] });
  setFault('texts', { gone: ['main'] });
  service.setFault(VANISHING, { isEmpty: true });
  for (const code of ['failed', 'names', 'texts']) await waitForAlert(code, 'XvsExpectedTaskDown main');
  service.worldOf('failed').failures = 1;
  // A stream recovers, and another one of its code is slow.
  setFault('texts', { slow: ['backup'] });
  for (const code of VANISHING) await waitForAlert(code, 'XvsTasksVanished');
  setFault(STAYING, { gone: ['main'] });
  await waitForAlert(STAYING, 'XvsExpectedTaskDown main');
  const both = ['firing XvsExpectedTaskSlow backup texts', 'resolved XvsExpectedTaskDown main texts'];
  await waitUntil(
    () => listMessages('texts'),
    (messages) => messages.some((alerts) => both.every((alert) => alerts.includes(alert))),
  );
  const ofTexts = (text: string): boolean => text.includes(' of texts');
  await waitUntil(
    () => [
      receiver.slack.filter(({ title }) => ofTexts(title)),
      receiver.pagerDuty.filter(({ summary }) => ofTexts(summary)),
    ],
    (sent) => sent.every((messages) => messages.length >= listMessages('texts').length),
  );
  const slack = receiver.slack.findLast(({ title }) => ofTexts(title));
  const pagerDuty = receiver.pagerDuty.findLast(({ summary }) => ofTexts(summary));

  await settle(lab);
  const told = new Map([...VANISHING, STAYING, 'failed'].map((code) => [code, listMessages(code)]));
  service.setFault(VANISHING);

  // Prometheus restarts in another minute than that in which the stream was last up.
  const before = findDescription('XvsExpectedTaskDown main names');
  const toldMs = Date.now();
  await waitUntil(
    Date.now,
    (nowMs) => readMinute(nowMs) > readMinute(service.worldOf('names').mainListedMs + 60_000),
  );
  setFault('users', { users: 5 });
  setFault('tasks', { gone: UNEXPECTED });
  await waitForAlert('users', 'XvsUsersDropped');
  await waitForAlert('tasks', 'XvsTasksDropped');
  const restartMs = performance.now();
  await prometheus.restart();
  setFault('names', { gone: ['main', 'backup'] });
  await waitForAlert('names', 'XvsExpectedTaskDown backup');
  const after = findDescription('XvsExpectedTaskDown main names');
  await settle(lab);

  // An alert begins while no Alertmanager runs.
  const stopMs = performance.now();
  await alertmanager.stop();
  setFault('late', { gone: ['main'] });
  await prometheus.waitUntil(
    () => prometheus.query('ALERTS{alertstate="firing", service_code="late"}'),
    (firing) => firing.length > 0,
  );
  const startMs = performance.now();
  await alertmanager.startAgain();
  await waitForAlert('late', 'XvsExpectedTaskDown main');
  await settle(lab);

  for (const code of CODES.filter((name) => name !== 'failed')) told.set(code, listMessages(code));
  const seconds = (ms: number): number => Math.round((ms - beginMs) / 1000);
  t.diagnostic(
    `Prometheus stopped after ${seconds(restartMs)} s, Alertmanager after ${seconds(stopMs)} to ${seconds(startMs)} s`,
  );
  for (const { receivedMs, alerts } of receiver.messages)
    for (const { status, labels, annotations } of alerts)
      t.diagnostic(
        `webhook after ${seconds(receivedMs)} s: ${status} ${subjectOf(labels)}: ${annotations['description']}`,
      );
  for (const { receivedMs, title } of receiver.slack)
    t.diagnostic(`Slack after ${seconds(receivedMs)} s: ${title}`);
  for (const { receivedMs, action, summary } of receiver.pagerDuty)
    t.diagnostic(`PagerDuty after ${seconds(receivedMs)} s: ${action} ${summary}`);

  await t.test('a restart of Prometheus resolves no loss, and sends none again', () => {
    assert.deepEqual(told.get('users'), [['firing XvsUsersDropped users']]);
    assert.deepEqual(told.get('tasks'), [['firing XvsTasksDropped tasks']]);
  });
  await t.test('an alert that is sent after a restart says when its stream was last up, as before', () => {
    assert.equal(after, before);
    const { mainListedMs } = service.worldOf('names');
    const [, time = ''] = /last up at (.+) UTC/.exec(after ?? '') ?? [];
    // The text has a sample of each minute, and polls and scrapes see the end later.
    assert.ok(readMinute(mainListedMs - 60_000) <= time && time <= readMinute(toldMs), time);
  });
  await t.test(
    'an alert that begins while Alertmanager is stopped is sent once it runs, and others are not again',
    () => {
      assert.deepEqual(told.get('late'), [['firing XvsExpectedTaskDown main late']]);
      assert.deepEqual(told.get('names'), [
        ['firing XvsExpectedTaskDown main names'],
        ['firing XvsExpectedTaskDown backup names', 'firing XvsExpectedTaskDown main names'],
      ]);
    },
  );
  await t.test(
    'Slack and PagerDuty get title, link and action of the slow stream, not of the recovered one',
    () => {
      const slow = readAlertRules().find(({ alert }) => alert === 'XvsExpectedTaskSlow');
      const action = slow?.annotations['action'] ?? 'no action';
      const ended = '1 of 2 is over: XvsExpectedTaskDown of main of texts';
      assert.equal(slack?.title, `[CRITICAL] ${ended}; XvsExpectedTaskSlow: backup of texts`);
      const [over, listed, first, links] = slack.text.split('\n');
      assert.equal(over, `*${ended}*`);
      assert.match(listed ?? '', /^• backup of texts receives /);
      assert.equal(first, `*First, XvsExpectedTaskSlow:* ${action}`);
      assert.match(links ?? '', /#XvsExpectedTaskSlow\|Runbook>$/);
      assert.equal(pagerDuty?.action, 'trigger');
      assert.ok(pagerDuty.summary.startsWith(`${ended}. XvsExpectedTaskSlow: backup of texts receives `));
      assert.ok(pagerDuty.summary.endsWith(` First: ${action}`), pagerDuty.summary);
    },
  );
  await t.test(
    'codes that lose all tasks are one notification, and a stream of another code that dies is told',
    () => {
      const vanished = VANISHING.map((code) => `firing XvsTasksVanished ${code}`);
      for (const code of VANISHING) assert.deepEqual(told.get(code), [vanished]);
      assert.ok(
        receiver.slack.some(({ title }) => title === '[CRITICAL] XvsTasksVanished: gone-0, gone-1, gone-2'),
      );
      assert.deepEqual(told.get(STAYING), [[`firing XvsExpectedTaskDown main ${STAYING}`]]);
    },
  );
  await t.test('a failed poll neither resolves the alert of a missing stream nor sends it again', () => {
    assert.equal(service.worldOf('failed').failures, 0);
    assert.deepEqual(told.get('failed'), [['firing XvsExpectedTaskDown main failed']]);
  });
});
