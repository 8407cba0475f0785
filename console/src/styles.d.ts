/** Styles are bundled beside the scripts. */
declare module '*.css';
