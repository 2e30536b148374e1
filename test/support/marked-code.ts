import { readFile } from 'node:fs/promises'

/** The code blocks of a page of `docs/` in one language, in order, each with its heading. */
export async function codeIn(
  file: string,
  language: string
): Promise<readonly { readonly heading: string; readonly code: string }[]> {
  const text = await readFile(new URL(`../../docs/${file}`, import.meta.url), 'utf8')
  return text
    .split(/^#+ /m)
    .flatMap(section =>
      [...section.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)]
        .filter(([, found]) => found === language)
        .map(([, , code = '']) => ({ heading: section.slice(0, section.indexOf('\n')), code }))
    )
}
