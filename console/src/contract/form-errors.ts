import { ApiError } from '@granary/client/errors';
import { words } from '../parts/format.ts';
import { inLabels, type FormWords } from '../parts/wording.ts';

/** What a service refused, by the field that it is about. */
export function problemsAt(
  error: Error | null,
  shown: readonly string[],
  form: FormWords,
): ReadonlyMap<string, string> {
  if (!(error instanceof ApiError)) return new Map();
  if (error.problems.length > 0)
    return new Map(
      error.problems.map(({ field, message }) => [
        field,
        inLabels(sentenceOf(form.labelOf(field) ?? words(field), message), form),
      ]),
    );
  // `capacity must be at least 1 MB`: arrays name the parameter in their message.
  const [name = ''] = error.message.split(' ', 1);
  if (!shown.includes(name)) return new Map();
  return new Map([[name, `${form.labelOf(name) ?? name}${inLabels(error.message.slice(name.length), form)}`]]);
}

/** `are 25 in all` of `drives` says what are; `must have at least 8 characters` of `password`, what must. */
function sentenceOf(subject: string, message: string): string {
  return /^(?:is|are|names|must|has) (?!required)/.test(message) ? `${subject} ${message}` : message;
}

/** An error as the form says it. */
export function errorInLabels(error: Error, form: FormWords): Error {
  if (!(error instanceof ApiError)) return error;
  const problems = error.problems.map(({ field, message }) => ({
    field: form.labelOf(field) ?? field,
    message: inLabels(message, form),
  }));
  return new ApiError(error.status, inLabels(error.message, form), problems);
}
