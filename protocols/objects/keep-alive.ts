/**
 * What clients learn about idle connections: well before the server closes one, so that none sends a request
 * into a connection that is just being closed.
 */
export const KEEP_ALIVE = 'timeout=50';
