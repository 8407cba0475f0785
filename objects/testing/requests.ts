import type { RequestRecord } from '@granary/protocols/objects';

/** A request of the data path as a controller reports it. */
export function dataRequest(changes: Partial<RequestRecord> = {}): RequestRecord {
  return {
    requestId: '0123456789abcdef',
    protocol: 's3',
    action: 'PutObject',
    class: 'put',
    subject: 'object',
    account: 'a'.repeat(32),
    user: 'b'.repeat(32),
    username: 'ada',
    policy: 0,
    bucket: 'photos',
    key: 'summer/beach.jpg',
    status: 200,
    bytesIn: 0,
    bytesOut: 0,
    bytesDeleted: 0,
    milliseconds: 0,
    at: 0,
    ip: '192.0.2.7',
    ...changes,
  };
}
