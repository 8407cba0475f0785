/**
 * `node:http` for processes that shall stay small. To import it reads all it exports, its WebSocket among them, and
 * that loads all of `fetch`: megabytes of memory.
 */
export const http = process.getBuiltinModule('node:http');
