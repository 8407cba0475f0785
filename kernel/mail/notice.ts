import { formatUtc } from '../clock.ts';
import { severity } from '../events/events.ts';

export interface Mail {
  readonly subject: string;
  readonly text: string;
}

/** An event in a mail. */
export interface MailedEvent {
  readonly id: number;
  readonly createdAt: number;
  readonly severity: number;
  readonly title: string;
}

const SUBJECT_LENGTH_MAX = 160;
const words = new Map<number, string>(Object.entries(severity).map(([word, number]) => [number, word]));

/** The text for a person: the events, oldest first, and the number of further ones. */
export function writeNotice(arrayName: string, events: readonly MailedEvent[], more: number): Mail {
  const [first] = events;
  const count = events.length + more;
  const subject = count === 1 && first ? `${wordOf(first)}: ${first.title}` : `${count} events, ${worstOf(events)}`;
  const lines = events.map((event) => `${formatUtc(event.createdAt)}  ${wordOf(event)}  ${event.title}`);
  const rest = more > 0 ? [`and ${more} more: see GET /api/messages.`] : [];
  return { subject: subjectLine(arrayName, subject), text: [...lines.map(oneLine), ...rest, ''].join('\n') };
}

/** `[array] what it is about`, short enough for any mail program. */
export function subjectLine(arrayName: string, subject: string): string {
  return oneLine(`[${arrayName}] ${subject}`).slice(0, SUBJECT_LENGTH_MAX);
}

/** Titles contain names that users chose. */
export function oneLine(text: string): string {
  return text.replace(/[\u0000-\u001f\u007f]+/g, ' ');
}

function worstOf(events: readonly MailedEvent[]): string {
  const worst = Math.min(...events.map((event) => event.severity));
  const count = events.filter((event) => event.severity === worst).length;
  return `${count} of them ${words.get(worst) ?? `severity ${worst}`}`;
}

function wordOf({ severity: number }: MailedEvent): string {
  return words.get(number) ?? `severity ${number}`;
}
