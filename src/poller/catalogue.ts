import { define } from '../families/family.ts';
import { LISTING_COUNTERS, LISTING_GAUGES, SINGLE_TASK_FAMILIES } from '../listing/catalogue.ts';
import { IN_LAST_LISTING } from '../listing/label-group.ts';

/* Each set of families has a record of its samples beside the state that they show. */

const LAST_POLL = define(['service_code'], {
  up: {
    name: 'xvs_up',
    help: 'Whether the last poll succeeded: HTTP 2xx, a complete and valid listing, "ret" = 0.',
  },
  ret: {
    name: 'xvs_ret',
    help: '"ret" of the last response (0 is success); absent if the response had none.',
  },
});

/** What `expect` of a service code says. */
const EXPECTATIONS = define(['service_code'], {
  expectedTasks: {
    name: 'xvs_expected_tasks',
    help: 'Live tasks that must run: the larger of expect.tasks and the number of expect.names.',
  },
  expectedTaskUp: {
    name: 'xvs_expected_task_up',
    help: 'Whether a live task with an expected name is listed, has received input (or reports none) and is not stalled; 0 without a recent listing.',
    labels: ['task_name'],
  },
  expectedTaskOutputs: {
    name: 'xvs_expected_task_outputs',
    help: `Entries of "outputs" of the task with an expected name, ${IN_LAST_LISTING}; the largest number if several have it; absent if none is listed.`,
    labels: ['task_name'],
  },
  expectedTaskByteCountsWaiting: {
    name: 'xvs_expected_task_byte_counts_waiting',
    help: `Byte counts of the tasks of an expected name that wait for later listings to confirm them, ${IN_LAST_LISTING}; appears with the first one.`,
    labels: ['task_name'],
  },
  expectedTaskMinInputRate: {
    name: 'xvs_expected_task_min_input_bytes_per_second',
    help: 'The "min_input_rate" of an expected name, in bytes; absent where it is not set.',
    labels: ['task_name'],
  },
  expectedTaskDueOutputs: {
    name: 'xvs_expected_task_due_outputs',
    help: 'Outputs that an expected name must have: its "outputs" where it is set, else the largest number of the last hour.',
    labels: ['task_name'],
  },
  expectedTaskInputRate: {
    name: 'xvs_expected_task_input_bytes_per_second',
    help: 'Mean input rate of an expected name in the listings of the last two minutes, or in the last two; absent unless it is up.',
    labels: ['task_name'],
  },
});

/** Families of the last good listing of a service code, and of its counters. */
export const STATE_FAMILIES = {
  ...LAST_POLL,
  ...LISTING_GAUGES,
  ...EXPECTATIONS,
  ...LISTING_COUNTERS,
  ...SINGLE_TASK_FAMILIES,
};

/** Families of the polls of a service code. */
export const POLL_FAMILIES = define(['service_code'], {
  polls: {
    name: 'xvs_exporter_polls_total',
    help: 'Polls that ended, successful or not; not those that a reload or a shutdown aborted.',
  },
  pollErrors: {
    name: 'xvs_exporter_poll_errors_total',
    help: 'Polls that failed, by reason.',
    labels: ['reason'],
  },
  pollsSkipped: {
    name: 'xvs_exporter_polls_skipped_total',
    help: 'Polls skipped, by reason: overlap (the previous poll was still running), retry_after (the service asked for a pause).',
    labels: ['reason'],
  },
  lastPollDuration: {
    name: 'xvs_exporter_last_poll_duration_seconds',
    help: 'Duration of the last poll, from its start, before a lookup of the host name, to committing the listing or failing.',
  },
  lastPoll: {
    name: 'xvs_exporter_last_poll_timestamp_seconds',
    help: 'When the last poll ended.',
  },
  lastSuccess: {
    name: 'xvs_exporter_last_success_timestamp_seconds',
    help: 'When the last successful poll ended.',
  },
  listingAge: {
    name: 'xvs_exporter_listing_age_seconds',
    help: 'Time since the last good listing, as of at most ten seconds before the scrape; without one, since the exporter began to poll the service code.',
  },
  pollInterval: {
    name: 'xvs_exporter_poll_interval_seconds',
    help: 'Configured poll interval.',
  },
  responseBytes: {
    name: 'xvs_exporter_response_bytes',
    help: 'Size of the last response body, decompressed.',
  },
  httpStatus: {
    name: 'xvs_exporter_http_status',
    help: 'HTTP status of the last response; absent if the last poll got none.',
  },
  clockOffset: {
    name: 'xvs_exporter_clock_offset_seconds',
    help: 'How far the clock of the exporter is ahead of the "Date" of the last response, negative if behind; 0 if the duration of the request and the whole seconds of the header explain the difference; absent if the last poll got no response, or one without the header.',
  },
  upstreamCertificateNotAfter: {
    name: 'xvs_exporter_upstream_certificate_not_after_timestamp_seconds',
    help: 'Earliest expiry of the certificates by which the service is verified; absent without TLS, or if the last poll got no response.',
  },
});
