import { dirname, join, relative, resolve } from 'node:path'

import { getLibFiles, libFolderInMemoryPath, ts } from '@ts-morph/common'

import { openExpansion, type StatementText } from './statement-text.ts'

/** A statement whose rows have a declared type. */
export interface Statement extends StatementText {
  /** `src/stores/db/stations.ts:17` */
  readonly place: string
  readonly columns: ReadonlyMap<string, DeclaredColumn>
}

interface DeclaredColumn {
  /** `number`, `string[]`; `unknown` if any value fits. */
  readonly kinds: readonly string[]
  readonly isNullable: boolean
  readonly isOptional: boolean
}

/** Reads the statements of folders or files with the compiler of TypeScript. */
export function readStatements(root: string, paths: readonly string[]): Statement[] {
  const program = openTypes(root, paths)
  const checker = program.getTypeChecker()
  const statements: Statement[] = []
  for (const file of program.getSourceFiles()) {
    const name = relative(root, file.fileName)
    if (!paths.some(path => name.startsWith(path))) continue
    const visit = (node: ts.Node): void => {
      const typed = typedStatement(checker, node)
      if (typed) read(typed)
      ts.forEachChild(node, visit)
    }
    const read = ({ node, rows, page }: TypedStatement) => {
      const place = `${name}:${file.getLineAndCharacterOfPosition(node.getStart(file)).line + 1}`
      const columns = columnsOf(checker, rows, node)
      // A condition may add a part: both forms are statements of their own.
      const forms = [true, false].map(isTrue => openExpansion(checker, isTrue)(node, page))
      for (const form of new Map(forms.map(each => [each.text, each])).values())
        statements.push({ ...form, place, columns })
    }
    visit(file)
  }
  return statements
}

interface TypedStatement {
  readonly node: ts.Expression
  /** The type of its rows, or of one. */
  readonly rows: ts.Type
  /** The parameter for a page of a list, and the statement of which it is a page. */
  readonly page?: readonly [ts.ParameterDeclaration, ts.Expression]
}

/**
 * A statement with the type of its rows: `sql<Row[]>`, `sql.unsafe<Row[]>(...)`, `read.rows<Row>(...)` and
 * `read.batches<Row>(...)` of heavy reads, or the `select` of a list that renders its rows.
 */
function typedStatement(checker: ts.TypeChecker, node: ts.Node): TypedStatement | null {
  if (ts.isObjectLiteralExpression(node)) return listStatement(checker, node)
  if (!ts.isTaggedTemplateExpression(node) && !ts.isCallExpression(node)) return null
  const type = node.typeArguments?.[0]
  if (!type) return null
  const rows = checker.getTypeFromTypeNode(type)
  if (ts.isTaggedTemplateExpression(node)) return { node, rows }
  const name = ts.isPropertyAccessExpression(node.expression) ? node.expression.name.text : ''
  if (name === 'unsafe') return { node, rows }
  const [statement] = node.arguments
  return statement && ['rows', 'batches'].includes(name) ? { node: statement, rows } : null
}

function listStatement(checker: ts.TypeChecker, list: ts.ObjectLiteralExpression): TypedStatement | null {
  const values = new Map(
    list.properties.flatMap(each =>
      ts.isPropertyAssignment(each) ? [[each.name.getText(), each.initializer] as const] : []
    )
  )
  const [select, expand, render] = [values.get('select'), values.get('expand'), values.get('render')]
  const rendered = render && ts.isArrowFunction(render) ? render.parameters[0] : undefined
  if (!select || !rendered) return null
  const rows = rendered.type
    ? checker.getTypeFromTypeNode(rendered.type)
    : checker.getTypeAtLocation(rendered)
  const page = expand && ts.isArrowFunction(expand) ? expand.parameters[0] : undefined
  return page && expand && ts.isArrowFunction(expand) && !ts.isBlock(expand.body)
    ? { node: expand.body, rows, page: [page, select] }
    : { node: select, rows }
}

/** The columns of rows; none if they are not known. */
function columnsOf(checker: ts.TypeChecker, rows: ts.Type, place: ts.Node): Map<string, DeclaredColumn> {
  const row = checker.getIndexTypeOfType(rows, ts.IndexKind.Number) ?? rows
  return new Map(
    checker.getPropertiesOfType(row).map(field => {
      const type = checker.getTypeOfSymbolAtLocation(field, place)
      const isNullable = partsOf(type).some(({ flags }) => flags & (ts.TypeFlags.Null | ts.TypeFlags.Unknown))
      const isOptional = (field.flags & ts.SymbolFlags.Optional) !== 0
      return [field.name, { kinds: kindsOf(checker, type), isNullable, isOptional }]
    })
  )
}

const partsOf = (type: ts.Type) => (type.isUnion() ? type.types : [type])

/** The kinds of a type without null. */
function kindsOf(checker: ts.TypeChecker, type: ts.Type): string[] {
  const values = partsOf(type).filter(
    ({ flags }) => (flags & (ts.TypeFlags.Null | ts.TypeFlags.Undefined)) === 0
  )
  return [...new Set(values.map(part => kindOf(checker, part)))]
}

function kindOf(checker: ts.TypeChecker, type: ts.Type): string {
  if (type.isIntersection()) return kindOf(checker, type.types[0] ?? type)
  for (const [kind, flag] of Object.entries(flags)) if (type.flags & flag) return kind
  const name = type.getSymbol()?.name ?? ''
  if (!checker.isArrayType(type)) return ['Date', 'Uint8Array'].includes(name) ? name : 'object'
  const element = checker.getIndexTypeOfType(type, ts.IndexKind.Number)
  return element ? `${kindsOf(checker, element).join(' | ')}[]` : 'object'
}

const flags = {
  string: ts.TypeFlags.StringLike,
  number: ts.TypeFlags.NumberLike,
  boolean: ts.TypeFlags.BooleanLike,
  unknown: ts.TypeFlags.Unknown,
  any: ts.TypeFlags.Any
}

/** The types of these files and of postgres.js: reading all packages takes seconds. A type of another one is `any`. */
function openTypes(root: string, paths: readonly string[]): ts.Program {
  const { config } = ts.readConfigFile(join(root, 'tsconfig.json'), path => ts.sys.readFile(path))
  const { options } = ts.convertCompilerOptionsFromJson({ ...config.compilerOptions, types: [] }, root)
  const found = paths.flatMap(path =>
    path.endsWith('.ts') ? [join(root, path)] : ts.sys.readDirectory(join(root, path), ['.ts'])
  )
  const buffer = join(root, 'buffer.d.ts')
  const texts = new Map(
    getLibFiles().map(({ fileName, text }) => [join(libFolderInMemoryPath, fileName), text])
  )
  texts.set(buffer, 'type Buffer = Uint8Array')
  const readFile = (path: string) => texts.get(path) ?? ts.sys.readFile(path)
  const host: ts.CompilerHost = {
    ...ts.createCompilerHost(options),
    getDefaultLibLocation: () => libFolderInMemoryPath,
    getDefaultLibFileName: () => join(libFolderInMemoryPath, ts.getDefaultLibFileName(options)),
    fileExists: path => readFile(path) !== undefined,
    readFile,
    getSourceFile: (path, version) => {
      const text = readFile(path)
      return text === undefined ? undefined : ts.createSourceFile(path, text, version, true)
    },
    resolveModuleNameLiterals: (literals, from) =>
      literals.map(({ text }) => {
        const isKnown = text === 'postgres' || text.startsWith('.')
        const path =
          text === 'postgres' ? 'node_modules/postgres/types/index.d.ts' : join(dirname(from), text)
        const resolvedModule = { resolvedFileName: resolve(root, path), extension: ts.Extension.Ts }
        return { resolvedModule: isKnown ? resolvedModule : undefined }
      })
  }
  return ts.createProgram({ rootNames: [...found, buffer], options, host })
}
