/**
 * What clients are told of connections they do not use: well before the server closes one, so that none sends a request
 * into a connection that is just being closed.
 */
export const KEEP_ALIVE = 'timeout=50';
