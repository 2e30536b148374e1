/**
 * Where the server is, from the address of a file that it served: also behind a path, and under any of its
 * names.
 */
export function serverOf(file: string): URL {
  const url = new URL('.', file)
  url.pathname = url.pathname.replace(/assets\/$/, '')
  return url
}
