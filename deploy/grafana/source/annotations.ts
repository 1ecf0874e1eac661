import { AnnotationQueryBuilder } from '@grafana/grafana-foundation-sdk/dashboard';
import { CATALOGUE } from '../../../src/metrics/catalogue.ts';
import { DATA_SOURCE } from './panels.ts';
import { queriesOf } from './queries.ts';

const q = queriesOf(['service_code']);

/** What is drawn across every panel. */
export function annotations(): readonly AnnotationQueryBuilder[] {
  return [builtIn(), apiFailures(), restarts()];
}

/** The list that Grafana itself keeps: without it, nobody can write a note on a dashboard. */
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

/** A region for as long as no replica gets a listing. Grafana draws where the value is above 0. */
function apiFailures(): AnnotationQueryBuilder {
  return new AnnotationQueryBuilder()
    .name('API failures')
    .datasource(DATA_SOURCE)
    .enable(true)
    .iconColor('red')
    .expr(`${q.last(CATALOGUE.up)} == bool 0`)
    .step('15s')
    .titleFormat('No listing of {{service_code}}')
    .tagKeys('service_code');
}

/**
 * A line at each new start of an exporter. The value is the moment: unlike `changes` over a window, that is exact, and
 * misses none that was down for longer than the window.
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
