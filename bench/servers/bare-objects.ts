import { hash } from 'node:crypto';
import { close, fsync, open, readFile, writev } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { listedKey } from '../objects/target.ts';

/**
 * The least a server of objects can do, in one process: PUT writes what comes to a new file and syncs it, or to as many
 * as there are to be copies, GET sends the file, a listing is made of records in memory, as they are shown. It asks
 * no client for credentials and computes nothing.
 */
const [folder = '', names = '0', copies = '1'] = process.argv.slice(2);
const LISTED = 1000;
const SIZE = 16;
const STARTED = Date.now();
const records = Array.from({ length: Number(names) }, (_, index) => {
  const key = listedKey(index);
  const modified = new Date(STARTED - index * 1000).toISOString();
  return { key, modified, etag: hash('md5', key.padEnd(SIZE)), size: SIZE };
});

function put(request: IncomingMessage, response: ServerResponse, files: readonly string[]): void {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    let left = files.length;
    const done = (error: Error | null): void => {
      left -= 1;
      if (response.headersSent) return;
      if (error) fail(response, error);
      else if (left === 0) response.writeHead(200, { 'content-length': 0 }).end();
    };
    for (const file of files) write(file, chunks, done);
  });
}

function write(file: string, chunks: readonly Buffer[], done: (error: Error | null) => void): void {
  open(file, 'w', (openError, fd) => {
    if (openError) {
      done(openError);
      return;
    }
    writev(fd, chunks, (writeError) => {
      if (writeError) {
        done(writeError);
        return;
      }
      fsync(fd, (syncError) => {
        close(fd);
        done(syncError);
      });
    });
  });
}

function get(response: ServerResponse, file: string): void {
  readFile(file, (error, bytes) => {
    if (error) {
      fail(response, error);
      return;
    }
    response.writeHead(200, { 'content-length': bytes.length }).end(bytes);
  });
}

function list(response: ServerResponse, after: string): void {
  let low = 0;
  for (let high = records.length; low < high;) {
    const middle = (low + high) >> 1;
    if ((records[middle]?.key ?? '') <= after) low = middle + 1;
    else high = middle;
  }
  let text = '<?xml version="1.0" encoding="UTF-8"?><ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">';
  for (const { key, modified, etag, size } of records.slice(low, low + LISTED))
    text += `<Contents><Key>${key}</Key><LastModified>${modified}</LastModified><ETag>&quot;${etag}&quot;</ETag><Size>${size}</Size><StorageClass>STANDARD</StorageClass></Contents>`;
  const body = Buffer.from(`${text}</ListBucketResult>`);
  response.writeHead(200, { 'content-type': 'application/xml', 'content-length': body.length }).end(body);
}

function fail(response: ServerResponse, error: Error): void {
  response.writeHead(500).end(error.message);
}

/** Reads are of the first. */
function filesOf(file: string): string[] {
  return Array.from({ length: Number(copies) }, (_, copy) => (copy === 0 ? file : `${file}.${copy}`));
}

const server = createServer((request, response) => {
  const [path = '', query = ''] = (request.url ?? '').split('?');
  const after = new URLSearchParams(query).get('start-after');
  const file = join(folder, path.replaceAll('/', '_'));
  if (request.method === 'PUT') put(request, response, filesOf(file));
  else if (after === null) get(response, file);
  else list(response, after);
});
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo;
  process.send?.({ url: `http://127.0.0.1:${port}` });
});
process.once('disconnect', () => process.exit(0));
