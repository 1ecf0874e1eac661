import { AnnotationQueryBuilder } from '@grafana/grafana-foundation-sdk/dashboard';
import { CATALOGUE } from '../../../src/metrics/catalogue.ts';
import { DATA_SOURCE } from './panels.ts';
import { createQueries } from './queries.ts';

const q = createQueries(['service_code']);

export function annotations(): readonly AnnotationQueryBuilder[] {
  return [builtIn(), apiFailures(), restarts()];
}

/** Grafana's own annotations. Without them, users cannot annotate a dashboard. */
function builtIn(): AnnotationQueryBuilder {
  return new AnnotationQueryBuilder()
    .name('Annotations & Alerts')
    .datasource({ type: 'grafana', uid: '-- Grafana --' })
    .builtIn(1)
    .enable(true)
    .hide(true)
    .type('dashboard')
    .iconColor('rgba(0, 211, 255, 1)');
}

/**
 * A region while no replica gets a listing, on demand: one code that is down would tint all panels for as
 * long.
 */
function apiFailures(): AnnotationQueryBuilder {
  return new AnnotationQueryBuilder()
    .name('API failures')
    .datasource(DATA_SOURCE)
    .enable(false)
    .iconColor('red')
    .expr(`${q.last(CATALOGUE.up)} == bool 0`)
    .step('15s')
    .titleFormat('No listing of {{service_code}} {{namespace}} {{cluster}}')
    .tagKeys('service_code');
}

/**
 * A line at each start of an exporter. The value is the start time, which is exact, unlike `changes` over a
 * window, and includes exporters that were down for longer than the window.
 */
function restarts(): AnnotationQueryBuilder {
  return new AnnotationQueryBuilder()
    .name('Exporter restarts')
    .datasource(DATA_SOURCE)
    .enable(true)
    .iconColor('purple')
    .expr(`1000 * ${q.selectNamed('process_start_time_seconds')}`)
    .step('15s')
    .useValueForTime(true)
    .titleFormat('{{instance}} started')
    .tagKeys('instance');
}
