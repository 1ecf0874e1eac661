import { ListingReader } from '../../../src/listing/reader.ts';
import { createDefaultTally } from '../../support/default-tally.ts';
import { getReaderPool } from '../../support/read-listing.ts';
import type { Listing } from '../../../src/listing/listing.ts';
import type { Snapshot } from '../../../src/tally/snapshot.ts';
import type { Tally } from '../../../src/tally/tally.ts';
import { NOW_MS } from '../listing-body.ts';
import { quantile } from '../measure.ts';
import { getCpuMs, serveCommands } from './command-server.ts';

const POLL_MS = 15_000;
/** Tasks that are generated and read at a time. */
const BATCH = 50;
const FORMATS = [
  { format: 'flv', extension: '.flv', tag: 'tcp_output_live_only', audio: 'aac' },
  { format: 'rtmp', extension: '', tag: 'rtmp_push_low_delay', audio: 'libvo_aacenc' },
  { format: 'm3u8', extension: '.m3u8', tag: 'hls_live', audio: 'libvo_aacenc' },
] as const;

/** Formats a task as in the sample of the service, whose files are named after their task. */
function formatTask(number: number, listing: number): string {
  const server = `aws-cn_north_1-${number % 20}`;
  const id = `${server}-${(number * 0x9e3779b1).toString(16).padStart(16, '0')}`;
  const outputs = FORMATS.map(({ format, extension, tag, audio }) => ({
    file_name: `${id}${extension}`,
    tag,
    audio_codec_name: audio,
    video_codec_name: 'libx264',
    format,
    width: 576,
    height: 432,
    http_output_bytes: format === 'flv' ? 1_048_576 + 500_000 * listing : 0,
    http_connections_num: format === 'flv' ? 3 : 0,
    streams: [],
  }));
  const inputBytes = 7_340_032 + 1_000_000 * listing;
  return JSON.stringify({ id, progress: 0, vs_id: server, inputs: [], outputs, input_bytes: inputBytes });
}

/**
 * Reads the next listing of the same tasks, each with more bytes. The reader creates the strings that are
 * kept.
 */
function readListing({ accountShare }: Tally, tasks: number, listing: number): Listing | undefined {
  const reader = new ListingReader({ serviceCode: 'TESTING' }, getReaderPool(), accountShare);
  reader.write(Buffer.from('{"ret":0,"user_list":[],"task_list":['));
  for (let first = 0; first < tasks; first += BATCH) {
    const texts = Array.from({ length: Math.min(BATCH, tasks - first) }, (_, index) =>
      formatTask(first + index, listing),
    );
    reader.write(Buffer.from(`${first === 0 ? '' : ','}${texts.join(',')}`));
  }
  reader.write(Buffer.from(']}'));
  return reader.end();
}

/** The state that the exporter keeps for a service code: its accounts and the last snapshot. */
interface RetainedTally {
  readonly tally: Tally;
  readonly snapshot: Snapshot | undefined;
  /** Of a commit. */
  readonly cpuMs: number;
}

function commitListings(tasks: number, listings: number): RetainedTally {
  const tally = createDefaultTally();
  let snapshot: Snapshot | undefined;
  const commitsMs: number[] = [];
  for (let number = 0; number < listings; number += 1) {
    const listing = readListing(tally, tasks, number);
    if (listing === undefined) throw new Error('Expected a listing with ret 0');
    const at = { wallMs: NOW_MS + number * POLL_MS, monotonicMs: number * POLL_MS };
    const beforeMs = getCpuMs().cpuMs;
    ({ snapshot } = tally.commit(listing, at));
    commitsMs.push(getCpuMs().cpuMs - beforeMs);
  }
  return { tally, snapshot, cpuMs: quantile(commitsMs, 0.5) };
}

function measureHeapBytes(): number {
  if (globalThis.gc === undefined) throw new Error('Expected --expose-gc, found no collector to call');
  // A collection can free objects that are reachable only from finalized ones.
  for (let collection = 0; collection < 3; collection += 1) globalThis.gc();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

/** Measures after a warm-up that compiles the code. The first listing, the baseline, does not count. */
function measure(tasks: number, rounds: number): { bytesPerTask: number } {
  commitListings(tasks, 3);
  const beforeBytes = measureHeapBytes();
  const { tally, snapshot } = commitListings(tasks, rounds + 1);
  const bytesPerTask = (measureHeapBytes() - beforeBytes) / tasks;
  // Keeps both alive until here.
  if (tally.accountShare.size < tasks || snapshot?.tasks !== tasks) {
    throw new Error(`Expected ${tasks} tasks to be accounted for, found ${snapshot?.tasks}`);
  }
  return { bytesPerTask };
}

const [tasks, rounds] = process.argv.slice(2).map(Number);
serveCommands({
  measure: () => measure(tasks ?? 0, rounds ?? 0),
  commit: () => ({ cpuMs: commitListings(tasks ?? 0, rounds ?? 0).cpuMs }),
});
