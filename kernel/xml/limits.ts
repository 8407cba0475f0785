export interface XmlLimits {
  /** Characters of the whole document. */
  readonly lengthMax: number;
  /** Elements and attributes together. */
  readonly elementsMax: number;
  readonly depthMax: number;
}

/** For most documents: parameters of a request, configurations of a bucket, tags, locks. */
export const SMALL_XML: XmlLimits = { lengthMax: 64 * 1024, elementsMax: 5_000, depthMax: 17 };
