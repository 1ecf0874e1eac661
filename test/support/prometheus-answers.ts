import { z } from 'zod';

const series = z.object({ values: z.array(z.tuple([z.number(), z.string()])) });
const point = z.object({ value: z.tuple([z.number(), z.string()]) });

const answerOf = <T extends z.ZodType>(data: T) => z.object({ status: z.literal('success'), data });
const rangeAnswer = answerOf(z.object({ result: z.array(series) }));
const instantAnswer = answerOf(z.object({ result: z.array(point) }));
const valuesAnswer = answerOf(z.array(z.string()));

/** A span of time, in seconds since the Unix epoch. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** The numbers (no NaN among them) that a range query gives, one step a second, over all its series. */
export async function rangeNumbers(url: string, query: string, span: Span): Promise<readonly number[]> {
  const answer = rangeAnswer.parse(await askPrometheus(url, 'query_range', { query, ...span, step: 1 }));
  const values = answer.data.result.flatMap((one) => one.values.map(([, value]) => Number(value)));
  return values.filter((value) => !Number.isNaN(value));
}

/** The numbers that an instant query gives at a time, one for each series. */
export async function numbersAt(url: string, query: string, time: number): Promise<readonly number[]> {
  const answer = instantAnswer.parse(await askPrometheus(url, 'query', { query, time }));
  return answer.data.result.map(({ value: [, value] }) => Number(value));
}

/** The values of a label of the series that a selector chooses. */
export async function labelValues(
  url: string,
  label: string,
  selector: string,
  span: Span,
): Promise<readonly string[]> {
  const path = `label/${label}/values`;
  return valuesAnswer.parse(await askPrometheus(url, path, { 'match[]': selector, ...span })).data;
}

/** What Prometheus answers at a path of its API; rejects with what it says where it refuses. */
export async function askPrometheus(
  url: string,
  path: string,
  parameters: Readonly<Record<string, string | number>>,
): Promise<unknown> {
  const search = new URLSearchParams(
    Object.entries(parameters).map(([name, value]): [string, string] => [name, String(value)]),
  );
  const response = await fetch(`${url}/api/v1/${path}?${search.toString()}`);
  const body: unknown = await response.json();
  if (!response.ok) throw new Error(`Prometheus refused ${search.get('query')}: ${JSON.stringify(body)}`);
  return body;
}
