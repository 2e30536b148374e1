import { basename, dirname, join } from 'node:path'

import { getLibFiles, libFolderInMemoryPath, ts } from '@ts-morph/common'

/**
 * Returns a function that checks the types of a file of a tree with another text. It checks only that file: a
 * change that only breaks the types of other files is rare.
 */
export function typeChecker(root: string): (file: string, text: string) => boolean {
  const libraries = new Map(getLibFiles().map(({ fileName, text }) => [fileName, text]))
  const changed = new Map<string, { text: string | undefined; version: number }>()
  const program = serviceFor(join(root, 'tsconfig.json'))
  const web = serviceFor(join(root, 'web', 'tsconfig.json'))
  return (file, text) => {
    const path = join(root, file)
    const service = file.startsWith('web/') ? web : program
    const before = problemsOf(service, path, undefined)
    const after = problemsOf(service, path, text)
    problemsOf(service, path, undefined)
    return after <= before
  }

  function problemsOf(service: ts.LanguageService, path: string, text: string | undefined): number {
    changed.set(path, { text, version: (changed.get(path)?.version ?? 0) + 1 })
    return service.getSyntacticDiagnostics(path).length + service.getSemanticDiagnostics(path).length
  }

  function serviceFor(configFile: string): ts.LanguageService {
    const { config } = ts.readConfigFile(configFile, readFile)
    const { options, fileNames } = ts.parseJsonConfigFileContent(config, ts.sys, dirname(configFile))
    const host: ts.LanguageServiceHost = {
      getCompilationSettings: () => options,
      getScriptFileNames: () => fileNames.filter(name => !name.startsWith(join(root, 'test'))),
      getScriptVersion: name => String(changed.get(name)?.version ?? 0),
      getScriptSnapshot: name => {
        const text = changed.get(name)?.text ?? readFile(name)
        return text === undefined ? undefined : ts.ScriptSnapshot.fromString(text)
      },
      getCurrentDirectory: () => dirname(configFile),
      getDefaultLibFileName: () => join(libFolderInMemoryPath, ts.getDefaultLibFileName(options)),
      fileExists: name => readFile(name) !== undefined,
      readFile,
      directoryExists: name => ts.sys.directoryExists(name)
    }
    return ts.createLanguageService(host)
  }

  function readFile(path: string): string | undefined {
    return dirname(path) === String(libFolderInMemoryPath)
      ? libraries.get(basename(path))
      : ts.sys.readFile(path)
  }
}
