/**
 * `node:http` for processes with a small footprint. Importing it evaluates all its exports, WebSocket among them, which
 * loads all of `fetch`: megabytes of memory.
 */
export const http = process.getBuiltinModule('node:http');
