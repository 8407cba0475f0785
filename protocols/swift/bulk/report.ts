import { escapeMarkup } from '../request/refusal.ts';
import { CONTENT_TYPES, type Format, type SwiftReply } from '../request/request.ts';

/** The result of a bulk operation. It is in the body, because the status line is sent before the work is done. */
export interface Report {
  readonly [name: string]: string | number | readonly (readonly [path: string, what: string])[];
  readonly 'Response Status': string;
  readonly 'Response Body': string;
  /** Paths as addresses have them, with what went wrong. */
  readonly Errors: readonly (readonly [path: string, what: string])[];
}

function asXml(report: Report): string {
  const { Errors: errors, ...fields } = report;
  const items = Object.entries(fields).map(([name, value]) => {
    const tag = name.toLowerCase().replaceAll(' ', '_');
    return `<${tag}>${escapeMarkup(String(value))}</${tag}>`;
  });
  const objects = errors.map(
    ([path, what]) => `<object><name>${escapeMarkup(path)}</name><status>${escapeMarkup(what)}</status></object>`,
  );
  return `<delete>${items.join('')}<errors>${objects.join('')}</errors></delete>`;
}

function asText(report: Report): string {
  const { Errors: errors, ...fields } = report;
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${String(value)}`);
  return [...lines, 'Errors:', ...errors.map(([path, what]) => `${path}, ${what}`), ''].join('\n');
}

export function reportReply(format: Format, report: Report): SwiftReply {
  const write = { json: JSON.stringify, xml: asXml, plain: asText }[format];
  return { status: 200, headers: { 'Content-Type': CONTENT_TYPES[format] }, body: write(report) };
}
