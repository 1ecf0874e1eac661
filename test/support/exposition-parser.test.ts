import assert from 'node:assert/strict';
import { test } from 'node:test';

import { parseExposition } from './exposition-parser.ts';

const GAUGE = '# HELP a A.\n# TYPE a gauge\n';
const HISTOGRAM = '# HELP h H.\n# TYPE h histogram\n';
const COUNTER = '# TYPE c counter\n# HELP c C.\n';

const REJECTED = [
  ['text', 'no line feed at the end', `${GAUGE}a 1`],
  ['text', 'a blank line', `${GAUGE}a 1\n\n`],
  ['text', 'a sample without metadata', 'a 1\n'],
  ['text', 'no HELP', '# TYPE a gauge\na 1\n'],
  ['text', 'a second TYPE', `${GAUGE}# TYPE a gauge\na 1\n`],
  ['text', 'a UNIT', `${GAUGE}# UNIT a a\na 1\n`],
  ['text', 'an unknown type', '# HELP a A.\n# TYPE a info\na 1\n'],
  ['text', 'a family without samples', GAUGE],
  ['text', 'a duplicate family', `${GAUGE}a 1\n# HELP b B.\n# TYPE b gauge\nb 1\n${GAUGE}a{x="y"} 1\n`],
  ['text', 'a sample of another family', `${GAUGE}b 1\n`],
  ['text', 'a duplicate sample', `${GAUGE}a{x="1",y="2"} 1\na{y="2",x="1"} 1\n`],
  ['text', 'a duplicate label', `${GAUGE}a{x="1",x="2"} 1\n`],
  ['text', 'a raw quote in a label value', `${GAUGE}a{x="1"2"} 1\n`],
  ['text', 'an unknown escape', `${GAUGE}a{x="\\t"} 1\n`],
  ['text', 'a trailing comma', `${GAUGE}a{x="1",} 1\n`],
  ['text', 'a timestamp', `${GAUGE}a 1 1700000000\n`],
  ['text', 'an invalid number', `${GAUGE}a 0x1\n`],
  [
    'text',
    'a gauge with the name of the count of a histogram',
    `${HISTOGRAM}h_bucket{le="+Inf"} 0\nh_sum 0\nh_count 0\n# HELP h_count C.\n# TYPE h_count gauge\nh_count 1\n`,
  ],
  ['text', 'a histogram without +Inf', `${HISTOGRAM}h_bucket{le="1"} 0\nh_sum 0\nh_count 0\n`],
  [
    'text',
    'bucket counts that decrease',
    `${HISTOGRAM}h_bucket{le="1"} 2\nh_bucket{le="+Inf"} 1\nh_sum 0\nh_count 1\n`,
  ],
  [
    'text',
    'a count that differs from the last bucket',
    `${HISTOGRAM}h_bucket{le="+Inf"} 1\nh_sum 0\nh_count 2\n`,
  ],
  ['text', 'a _created line', `${HISTOGRAM}h_bucket{le="+Inf"} 1\nh_sum 0\nh_count 1\nh_created 1\n`],
  ['openmetrics', 'a _created line', `${COUNTER}c_total 1\nc_created 1\n# EOF\n`],
  ['openmetrics', 'no EOF', `${COUNTER}c_total 1\n`],
  ['openmetrics', 'text after EOF', `# EOF\n${COUNTER}c_total 1\n`],
  ['openmetrics', 'a counter sample without _total', `${COUNTER}c 1\n# EOF\n`],
  ['openmetrics', 'a counter below zero', `${COUNTER}c_total -1\n# EOF\n`],
  ['openmetrics', 'a unit that is missing in the name', `# UNIT c bytes\n${COUNTER}c_total 1\n# EOF\n`],
  ['openmetrics', 'an info that is not 1', '# TYPE i info\n# HELP i I.\ni_info 2\n# EOF\n'],
  [
    'openmetrics',
    'metrics that interleave',
    `# TYPE h histogram\n# HELP h H.\nh_bucket{x="1",le="+Inf"} 0\nh_bucket{x="2",le="+Inf"} 0\nh_sum{x="1"} 0\nh_count{x="1"} 0\nh_sum{x="2"} 0\nh_count{x="2"} 0\n# EOF\n`,
  ],
  [
    'openmetrics',
    'an integer as le',
    `# TYPE h histogram\n# HELP h H.\nh_bucket{le="1"} 0\nh_bucket{le="+Inf"} 0\nh_sum 0\nh_count 0\n# EOF\n`,
  ],
  ['openmetrics', 'a raw quote in HELP', '# TYPE a gauge\n# HELP a "A".\na 1\n# EOF\n'],
] as const;

for (const [format, fault, text] of REJECTED) {
  test(`the parser of ${format} rejects ${fault}`, () => {
    assert.throws(() => parseExposition(text, format), /^Error: Expected that /);
  });
}

test('the parser returns families, samples and unescaped labels', () => {
  const { families } = parseExposition(`${GAUGE}a{x="\\\\n\\n\\""} +Inf\n`, 'text');
  assert.deepEqual(families.get('a'), {
    type: 'gauge',
    help: 'A.',
    unit: undefined,
    samples: [{ name: 'a', labels: { x: '\\n\n"' }, value: Infinity }],
  });
});
