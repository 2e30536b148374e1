/** The part of a JSON Schema that forms use. */
export interface PropertySchema {
  readonly type?: string | readonly string[]
  readonly description?: string
  readonly enum?: readonly (string | number | null)[]
  readonly items?: PropertySchema
  readonly properties?: Readonly<Record<string, PropertySchema>>
  readonly required?: readonly string[]
  readonly anyOf?: readonly unknown[]
  readonly default?: unknown
  readonly examples?: readonly unknown[]
  readonly format?: string
  readonly pattern?: string
  readonly minimum?: number
  readonly maximum?: number
  readonly maxLength?: number
  readonly readOnly?: boolean
  readonly writeOnly?: boolean
  readonly 'x-fixed'?: boolean
  /** The settings and triggers of each type of web hook. */
  readonly 'x-types'?: Readonly<Record<string, HookTypeSchema>>
}

interface HookTypeSchema {
  readonly settings: PropertySchema
  readonly triggers: readonly string[]
}

/**
 * How a field is edited. `lines` is a list of texts, one a line; `pairs` are named values, `name=value` in each
 * line; `choices` a list of words; `moment` is Unix seconds, 0 for none; `zone` a time zone; `special` has a view of
 * its own.
 */
type FieldKind =
  | 'text'
  | 'long-text'
  | 'secret'
  | 'long-secret'
  | 'url'
  | 'number'
  | 'switch'
  | 'select'
  | 'choices'
  | 'lines'
  | 'pairs'
  | 'moment'
  | 'zone'
  | 'special'

export interface FieldOption {
  readonly value: string
  readonly label: string
}

/** A field of a form. `name` is the path in the body; a dot separates the members of an object. */
export interface FormField {
  readonly name: string
  readonly label: string
  readonly description: string
  readonly kind: FieldKind
  readonly isRequired: boolean
  /** Whether it cannot be changed after creation. */
  readonly isFixed: boolean
  /** Whether a stored secret can be removed, with null. */
  readonly isRemovable: boolean
  /** The value of a new record. */
  readonly fallback: unknown
  readonly options: readonly FieldOption[]
  /** An example, shown while the field is empty. */
  readonly placeholder: string
  readonly min: number | null
  readonly max: number | null
  readonly maxLength: number | null
  /** The heading under which it is shown when that is opened; '' for the first fields. */
  readonly group: string
  /** The control of a field of the kind `special`. */
  readonly view?: (options: FieldViewOptions) => unknown
}

/** How a field is shown. */
export interface FieldViewOptions {
  readonly field: FormField
  /** Unique in the page. */
  readonly id: string
  readonly value: unknown
  /** '' if there is none. */
  readonly problem: string
  readonly isDisabled: boolean
  /** Whether a secret may have a stored value, which an empty field keeps. */
  readonly isStored: boolean
  readonly onChange: (value: unknown) => void
}

/** Without what concerns only programs: a form has a button to remove a secret. */
const describeField = (description: string) =>
  description
    .replace(/ ?Write-only: reads ""\.$/, '')
    .replace(/ ?Null removes it\.| ?\bnull deletes it\b/i, '')

/** The fields of a body, in its order, without computed ones and those that need an editor of their own. */
export function toFormFields({ properties, required }: PropertySchema, prefix = ''): FormField[] {
  return Object.entries(properties ?? {}).flatMap(([key, schema]) => {
    const kind = kindOf(schema)
    if (schema.readOnly === true || kind === null) return []
    const options = (kind === 'choices' ? schema.items?.enum : schema.enum) ?? []
    const [example] = schema.examples ?? []
    return {
      name: prefix + key,
      label: toFieldLabel(key),
      description: describeField(schema.description ?? ''),
      kind,
      isRequired: required?.includes(key) ?? false,
      isFixed: schema['x-fixed'] ?? false,
      isRemovable: schema.writeOnly === true && schema.default === '',
      fallback: schema.default ?? (kind === 'select' ? (options[0] ?? '') : emptyValue(kind)),
      options: options.map(option => ({ value: String(option ?? ''), label: toOptionLabel(option) })),
      placeholder: typeof example === 'string' && kind !== 'select' ? example : '',
      min: schema.minimum ?? null,
      max: schema.maximum ?? null,
      maxLength: schema.maxLength ?? null,
      group: ''
    }
  })
}

/** Texts from this length on have several lines. */
const longLength = 2_000

function kindOf(schema: PropertySchema): FieldKind | null {
  const types = [schema.type ?? []].flat()
  const isLong = (schema.maxLength ?? 0) >= longLength
  if (schema.enum !== undefined) return 'select'
  if (schema.anyOf !== undefined) return 'pairs'
  if (types.includes('boolean')) return 'switch'
  if (types.includes('integer') || types.includes('number')) return 'number'
  if (types.includes('array')) return listKindOf(schema)
  if (!types.includes('string')) return null
  if (schema.writeOnly === true) return isLong && schema.maxLength !== longLength ? 'long-secret' : 'secret'
  if (schema.format === 'uri' || /^.{0,8}\[?h/i.test(schema.pattern ?? '')) return 'url'
  return isLong ? 'long-text' : 'text'
}

function listKindOf({ items }: PropertySchema): FieldKind | null {
  if (items?.enum !== undefined) return 'choices'
  return items?.type === 'string' ? 'lines' : null
}

function emptyValue(kind: FieldKind): unknown {
  if (kind === 'switch') return false
  if (kind === 'number') return null
  return kind === 'choices' || kind === 'lines' || kind === 'pairs' ? [] : ''
}

const spellings: Readonly<Record<string, string>> = {
  api: 'API',
  autodj: 'AutoDJ',
  hls: 'HLS',
  id: 'ID',
  s3: 'S3',
  sftp: 'SFTP',
  ssh: 'SSH',
  timezone: 'time zone',
  url: 'URL'
}

/** The label of a field: `Admin password` for `admin_password`, `S3 endpoint` for `s3Endpoint`. */
export function toFieldLabel(name: string): string {
  const words = name
    .replace(/^is_/, '')
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .split('_')
  const text = words.map(word => spellings[word] ?? word).join(' ')
  return text.charAt(0).toUpperCase() + text.slice(1)
}

function toOptionLabel(option: string | number | null): string {
  return option === null || option === '' ? 'None' : String(option).replaceAll('_', ' ')
}
