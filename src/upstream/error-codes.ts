/* Codes of errors that the exporter makes itself, or that more than one file knows. */

/** Bytes that are not HTTP at all, for example a TLS alert. */
export const NOT_HTTP = 'HPE_INVALID_CONSTANT';
/** Headers or chunks that some clients accept. */
export const BROKEN_HTTP = 'UND_ERR_HTTP_PARSER';
/** A peer closes within a chunked body. */
export const PREMATURE_EOF = 'HPE_INVALID_EOF_STATE';
/** undici reports any error in headers so if they have a Content-Length. */
export const LENGTH_MISMATCH = 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH';
/** A compressed body ends early. */
export const UNEXPECTED_END = 'Z_BUF_ERROR';
/** WebAssembly got no address space. The error of V8 has no code. */
export const NO_WASM_MEMORY = 'WASM_MEMORY';
/** Node.js has names for some errors of certificates only. The message has OpenSSL's words. */
export const UNNAMED_CERTIFICATE_ERROR = 'UNSPECIFIED';
/** A listing is another account's. */
export const FOREIGN_LISTING = 'FOREIGN_LISTING';

/** What a request waited for until its timeout. */
export const NO_FREE_CONNECTION = 'NO_FREE_CONNECTION';
export const NO_ADDRESS = 'NO_ADDRESS';
export const NO_CONNECTION = 'NO_CONNECTION';
export const NO_HANDSHAKE = 'NO_HANDSHAKE';
export const NO_TUNNEL = 'NO_TUNNEL';
export const NO_RESPONSE = 'NO_RESPONSE';
/** undici gave up an attempt to connect. */
export const CONNECT_TIMEOUT = 'UND_ERR_CONNECT_TIMEOUT';
/** The response has a status for which no request asks, such as 100. */
export const UNASKED_STATUS = 'UNASKED_STATUS';
/** Before the status with which a proxy refused a request. */
export const PROXY_STATUS = 'PROXY_STATUS_';
