import { ApiError } from '@granary/client/errors';
import { inLabels, type FormWords } from '../parts/wording.ts';

/** What a service refused, by the field that it is about. */
export function problemsAt(
  error: Error | null,
  shown: readonly string[],
  words: FormWords,
): ReadonlyMap<string, string> {
  if (!(error instanceof ApiError)) return new Map();
  if (error.problems.length > 0)
    return new Map(error.problems.map(({ field, message }) => [field, inLabels(message, words)]));
  // `capacity must be at least 1 MB`: arrays name the parameter in their message.
  const [name = ''] = error.message.split(' ', 1);
  if (!shown.includes(name)) return new Map();
  return new Map([[name, `${words.labelOf(name) ?? name}${inLabels(error.message.slice(name.length), words)}`]]);
}

/** An error as the form says it. */
export function errorInLabels(error: Error, words: FormWords): Error {
  if (!(error instanceof ApiError)) return error;
  const problems = error.problems.map(({ field, message }) => ({
    field: words.labelOf(field) ?? field,
    message: inLabels(message, words),
  }));
  return new ApiError(error.status, inLabels(error.message, words), problems);
}
