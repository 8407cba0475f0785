import { pathParams, type Operation, type UploadedFile } from '@granary/contract';

/** A request as it goes over the wire. */
export interface Asked {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON when it is no text and no bytes. */
  readonly body?: unknown;
}

export type Values = Readonly<Record<string, unknown>>;
export const encodings = ['json', 'form', 'xml', 'query', 'multipart'] as const;
export type Encoding = (typeof encodings)[number];

/** A boundary no content has. */
const BOUNDARY = '----granary-test-boundary';

/** A call of an operation as it goes over the wire. Parameters that are not in the path are encoded as asked for. */
export function askedOf({ endpoint }: Operation, values: Values, encoding: Encoding): Asked {
  const inPath = pathParams(endpoint.path);
  const path = `/api${endpoint.path.replace(/\{([^}]+)\}/g, (_, name: string) => encodeURIComponent(String(values[name])))}`;
  const rest = Object.fromEntries(
    Object.entries(values).filter(([name, value]) => !inPath.includes(name) && value !== undefined),
  );
  const { method } = endpoint;
  if (Object.keys(rest).length === 0) return { method, path };
  if (encoding === 'query') return { method, path: `${path}?${formText(rest)}` };
  return { method, path, ...bodyOf(rest, encoding) };
}

/** How clients usually send an operation. */
export function usualEncoding({ endpoint }: Operation): Encoding {
  if (endpoint.method === 'GET' || endpoint.method === 'DELETE') return 'query';
  return Object.values(endpoint.params).some(({ kind }) => kind === 'file') ? 'multipart' : 'json';
}

function bodyOf(values: Values, encoding: Exclude<Encoding, 'query'>): Pick<Asked, 'headers' | 'body'> {
  switch (encoding) {
    case 'json':
      return { headers: { 'content-type': 'application/json' }, body: JSON.stringify(values) };
    case 'form':
      return { headers: { 'content-type': 'application/x-www-form-urlencoded' }, body: formText(values) };
    case 'xml':
      return { headers: { 'content-type': 'application/xml' }, body: xmlText(values) };
    case 'multipart':
      return { headers: { 'content-type': `multipart/form-data; boundary=${BOUNDARY}` }, body: multipart(values) };
  }
}

export function formText(values: Values): string {
  const pair = (name: string, value: unknown) => `${encodeURIComponent(name)}=${encodeURIComponent(wireText(value))}`;
  return Object.entries(values)
    .flatMap(([name, value]) =>
      Array.isArray(value) ? value.map((one) => pair(`${name}[]`, one)) : [pair(name, value)],
    )
    .join('&');
}

export function xmlText(values: Values): string {
  return `<?xml version="1.0"?><request>${Object.entries(values).map(xmlElement).join('')}</request>`;
}

function xmlElement([name, value]: [string, unknown]): string {
  const tag = name.replaceAll('_', '-');
  if (Array.isArray(value))
    return `<${tag} type="array">${value.map((one) => xmlElement(['item', one])).join('')}</${tag}>`;
  if (typeof value === 'object' && value !== null)
    return `<${tag}>${Object.entries(value).map(xmlElement).join('')}</${tag}>`;
  return `<${tag}>${wireText(value).replace(/[&<>]/g, (sign) => `&#${sign.charCodeAt(0)};`)}</${tag}>`;
}

function multipart(values: Values): Buffer {
  const parts = Object.entries(values).flatMap(([name, value]) => {
    const file = value as Partial<UploadedFile> | null;
    const disposition = `Content-Disposition: form-data; name="${name}"`;
    const head = file?.bytes ? `${disposition}; filename="${file.filename ?? 'file'}"` : disposition;
    return [
      Buffer.from(`--${BOUNDARY}\r\n${head}\r\n\r\n`),
      file?.bytes ?? Buffer.from(wireText(value)),
      Buffer.from('\r\n'),
    ];
  });
  return Buffer.concat([...parts, Buffer.from(`--${BOUNDARY}--\r\n`)]);
}

function wireText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
