/**
 * A URL in its parts, relative to a base if one is given; null where the text is none. `URL.canParse` of Node 20 cannot be asked:
 * after four thousand calls it says no to addresses with letters like `ö`.
 */
export function parsedUrl(text: string, base?: string): URL | null {
  try {
    return new URL(text, base)
  } catch {
    return null
  }
}

/**
 * Whether the host of an address is one of the names and numbers that hosts have. The URL standard also takes `a;b` and `a'b`, which mean
 * something else in a header.
 */
export const hasPlainHost = ({ hostname }: URL): boolean =>
  /^(?:[a-z0-9._-]+|\[[0-9a-f:.]+\])$/.test(hostname)
