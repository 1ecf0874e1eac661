import type { OutputRecord, TaskRecord, UserRecord } from '../../src/listing/records.ts';

/** A task record with what a test does not care about filled in. */
export function taskRecord(fields: Partial<TaskRecord> = {}): TaskRecord {
  return {
    id: 'task-1',
    vsId: 'server-1',
    progress: 0,
    inputBytes: 0,
    inputs: [],
    outputs: [],
    invalidInputs: 0,
    ...fields,
  };
}

/** An output record likewise. */
export function outputRecord(fields: Partial<OutputRecord> = {}): OutputRecord {
  return {
    format: 'flv',
    fileName: 'file',
    tag: 'tag',
    audioCodecName: 'aac',
    videoCodecName: 'libx264',
    width: 640,
    height: 360,
    httpOutputBytes: 0,
    httpConnectionsNum: 0,
    streams: [],
    ...fields,
  };
}

/** A user record likewise. */
export function userRecord(fields: Partial<UserRecord> = {}): UserRecord {
  return { vsId: 'server-1', clientVersion: '451', deviceType: '10', ...fields };
}
