/*
 * One name may be written with composed or decomposed characters (NFC, NFD): macOS decomposes names of files, keyboards
 * and most programs compose them. Such texts are one name. Stored names keep their bytes; what is compared is the key.
 * In SQL it is `name_key`, see `src/stores/db/library/stored-names.ts`.
 */

/** The key of a name or path. */
export const unicodeNameKey = (name: string): string => name.normalize('NFC')

/** The most bytes of the name of a file or folder, on all common file systems. */
export const maxNameBytes = 255

/** Beyond this number of parts with several forms, only whole paths are tried. */
const maxVariedParts = 3

/**
 * The forms in which a storage may have a path, each once, as given first. Parts of the path may have different forms:
 * a folder from a keyboard, a file from macOS. A path without accents has one form. Forms whose names are too long for
 * a file system are left out.
 */
export function listUnicodeForms(path: string): string[] {
  return listForms(path).filter(form => form === path || isStorable(form))
}

const isStorable = (path: string) => path.split('/').every(name => Buffer.byteLength(name) <= maxNameBytes)

function listForms(path: string): string[] {
  const parts = path.split('/')
  const forms = parts.map(part => [...new Set([part, part.normalize('NFC'), part.normalize('NFD')])])
  const varied = forms.filter(({ length }) => length > 1).length
  if (varied > maxVariedParts) return [...new Set([path, path.normalize('NFC'), path.normalize('NFD')])]
  return forms.reduce<string[]>(
    (starts, ends, index) =>
      starts.flatMap(start => ends.map(end => (index === 0 ? end : `${start}/${end}`))),
    ['']
  )
}
