declare module '*.css' {
  /** The minified text of a style sheet. */
  const text: string
  export default text
}
