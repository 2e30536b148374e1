/** The path of a folder with its slash, `""` at the top. */
export function folderPrefix(folder: string): string {
  const inner = folder.replace(/\/+$/, '')
  return inner === '' ? '' : `${inner}/`
}

/** The last part of a path. */
export const lastPathPart = (path: string) => path.slice(path.lastIndexOf('/') + 1)
