/*
 * The records that the oracle extracts from a listing. `undefined` means that a field is missing: absent, `null`, an empty
 * string, or invalid. Byte counts, connections and sizes are integers from 0 to 2⁵³ − 1.
 */

/** An entry of `user_list` ("User"). */
export interface UserRecord {
  readonly vsId: string | undefined;
  readonly clientVersion: string | undefined;
  readonly deviceType: string | undefined;
  /** Whether `service_code` is present and not the polled one. */
  readonly isForeign: boolean;
}

/** An entry of `inputs` ("Input"). */
export interface InputRecord {
  /** 53-bit hash of `url` and `user_name`, which identify an input within its task. */
  readonly identity: number;
  /** One of a closed set; see `parseInputProtocol`. */
  readonly protocol: string;
  readonly deviceType: string | undefined;
  /** `device_version`; if that is missing, `client_version`. */
  readonly clientVersion: string | undefined;
  /** Bytes received so far. */
  readonly inputBytes: number | undefined;
}

/** An entry of `streams` ("Stream"), numbers as reported. */
export interface StreamRecord {
  readonly codecType: number | undefined;
  readonly codecId: number | undefined;
  readonly copy: number | undefined;
  readonly width?: number | undefined;
  readonly height?: number | undefined;
  readonly bitRate: number | undefined;
}

/** An entry of `outputs` ("Output"). */
export interface OutputRecord {
  readonly format: string | undefined;
  readonly relativeDir: string | undefined;
  readonly fileName: string | undefined;
  readonly tag: string | undefined;
  readonly audioCodecName: string | undefined;
  readonly videoCodecName: string | undefined;
  readonly width: number | undefined;
  readonly height: number | undefined;
  /** Bytes delivered so far. */
  readonly httpOutputBytes: number | undefined;
  readonly httpConnectionsNum: number | undefined;
  /** Empty if missing. */
  readonly streams: readonly StreamRecord[];
}

/** An entry of `task_list` ("Task"). */
export interface TaskRecord {
  readonly id: string;
  /** If names are asked for. */
  readonly name?: string | undefined;
  readonly vsId: string | undefined;
  /** A finite number from 0 on; the service's own demo page shows fractions. */
  readonly progress: number | undefined;
  /** Bytes received so far, at task level. */
  readonly inputBytes: number | undefined;
  /** Empty if missing. */
  readonly inputs: readonly InputRecord[];
  /** Empty if missing. */
  readonly outputs: readonly OutputRecord[];
  /** Whether `service_code` is present and not the polled one. */
  readonly isForeign: boolean;
}
