export { NO_XML_CHARACTER, XML_DECLARATION, xmlEscaper } from './escape.ts';
export { SMALL_XML, type XmlLimits } from './limits.ts';
export { parseXml, XmlError, type XmlNode } from './parser.ts';
