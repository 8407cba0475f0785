import type { TSchema } from 'typebox';

/** The parts of a JSON schema that the kernel uses when it walks a value. */
export interface Shape {
  readonly type?: string;
  readonly title?: string;
  readonly format?: string;
  /** What is secret in it, in words, where it is shown to a session only when asked for. */
  readonly 'x-secret'?: string;
  readonly const?: unknown;
  readonly enum?: readonly string[];
  readonly properties?: Readonly<Record<string, Shape>>;
  readonly patternProperties?: Readonly<Record<string, Shape>>;
  readonly items?: Shape;
  readonly anyOf?: readonly Shape[];
}

/** A nullable value is a union; the alternative that is not null has its type. */
export function shapeOf(schema: TSchema | Shape | undefined): Shape | undefined {
  const shape: Shape | undefined = schema;
  return shape?.anyOf?.find(({ type }) => type !== 'null') ?? shape;
}

export function itemShape(shape: Shape | undefined): Shape | undefined {
  return shapeOf(shape?.items);
}

/** The field of a record, or any entry of a map. */
export function fieldShape(shape: Shape | undefined, key: string): Shape | undefined {
  if (shape?.properties && Object.hasOwn(shape.properties, key)) return shapeOf(shape.properties[key]);
  return shapeOf(Object.values(shape?.patternProperties ?? {})[0]);
}
