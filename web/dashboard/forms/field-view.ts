import { html, nothing } from 'lit'
import { live } from 'lit/directives/live.js'

import { buttonView } from '../ui/controls.ts'
import { choicesView } from './choices-view.ts'
import type { FieldViewOptions, FormField } from './form-field.ts'
import { pairsToText, textToPairs, splitTextLines } from './form-values.ts'

/** A field with its label, its description and its problem. */
export function fieldView(options: FieldViewOptions) {
  const { field, id, problem } = options
  const about = html`<p class="form-about" id="${id}-about">${describeField(field)}</p>
    <p class="trouble form-problem" id="${id}-problem">${problem}</p>`
  if (field.kind === 'choices' || field.kind === 'special')
    return html`<fieldset class="form-row" aria-describedby="${id}-about ${id}-problem">
      <legend>${field.label}</legend>
      ${controlView(options)} ${about}
    </fieldset>`
  return html`<div class="form-row" data-kind=${field.kind}>
    <label for=${id}>${field.label}</label>
    ${controlView(options)} ${about} ${removalView(options)}
  </div>`
}

/** Removes a stored secret when the form is saved, or keeps it after all. */
function removalView({ field, value, isStored, isDisabled, onChange }: FieldViewOptions) {
  if (!isStored || !field.isRemovable) return nothing
  const verb = value === null ? 'Keep' : 'Remove'
  return html`<p class="form-removal">
    ${buttonView(
      html`${verb} the stored value<span class="visually-hidden"> of ${field.label}</span>`,
      () => onChange(value === null ? '' : null),
      { style: 'link', isDisabled }
    )}
  </p>`
}

function describeField({ description, kind, min, max }: FormField): string {
  const notes = [description]
  if (kind === 'number' && min !== null && max !== null && max < 1_000_000) notes.push(`${min} to ${max}.`)
  if (kind === 'lines') notes.push('One per line.')
  if (kind === 'pairs') notes.push('One name=value per line.')
  return notes.filter(note => note !== '').join(' ')
}

const textOf = (value: unknown): string =>
  typeof value === 'string' || typeof value === 'number' ? String(value) : ''

const listOf = (value: unknown): string[] => (Array.isArray(value) ? value.map(String) : [])

function controlView(options: FieldViewOptions) {
  const { field, value, onChange } = options
  switch (field.kind) {
    case 'switch':
      return switchView(options)
    case 'select':
      return selectView(options)
    case 'long-text':
    case 'long-secret':
      return areaView(options, textOf(value), onChange)
    case 'lines':
      return areaView(options, listOf(value).join('\n'), text => onChange(splitTextLines(text)))
    case 'pairs':
      return areaView(options, pairsToText(value), text => onChange(textToPairs(text)))
    case 'moment':
      return inputView(options, 'datetime-local', toLocalTime(value), text => onChange(toUnixSeconds(text)))
    case 'secret':
      return inputView(options, 'password', textOf(value), onChange)
    case 'zone':
      return html`${inputView(options, 'text', textOf(value), onChange)}
        <datalist id="${options.id}-list">
          ${Intl.supportedValuesOf('timeZone').map(zone => html`<option value=${zone}></option>`)}
        </datalist>`
    case 'text':
    case 'url':
    case 'number':
      return inputView(options, 'text', textOf(value), onChange)
    case 'choices':
      return choicesView({ ...options, options: field.options, chosen: listOf(value) })
    case 'special':
      return field.view?.(options) ?? nothing
    default:
      return field.kind satisfies never
  }
}

/** Reads the value of the control that an event comes from. */
const readText = (event: Event): string => {
  const { target } = event
  return target instanceof HTMLInputElement ||
    target instanceof HTMLTextAreaElement ||
    target instanceof HTMLSelectElement
    ? target.value
    : ''
}

/** Whether the checkbox that dispatched an event is checked. */
export const isChecked = ({ target }: Event): boolean => target instanceof HTMLInputElement && target.checked

function placeholderOf({ field, value, isStored }: FieldViewOptions): string {
  if (!isStored) return field.placeholder
  return value === null ? 'will be removed' : 'unchanged'
}

function inputView(options: FieldViewOptions, type: string, text: string, onText: (text: string) => void) {
  const { field, id, problem, isDisabled } = options
  const { kind } = field
  const inputMode = kind === 'number' ? 'decimal' : kind === 'url' ? 'url' : nothing
  return html`<input
    class="field"
    id=${id}
    type=${type}
    inputmode=${inputMode}
    list=${kind === 'zone' ? `${id}-list` : nothing}
    autocomplete=${kind === 'secret' ? 'new-password' : 'off'}
    spellcheck=${kind === 'text' ? nothing : 'false'}
    placeholder=${placeholderOf(options)}
    ?disabled=${isDisabled}
    ?required=${field.isRequired}
    aria-invalid=${problem !== ''}
    aria-describedby="${id}-about ${id}-problem"
    .value=${live(text)}
    @input=${(event: Event) => onText(readText(event))}
  />`
}

/** The text is not set while it is edited: blank lines would disappear. */
function areaView(options: FieldViewOptions, text: string, onText: (text: string) => void) {
  const { id, problem, isDisabled } = options
  return html`<textarea
    class="field"
    id=${id}
    rows="4"
    placeholder=${placeholderOf(options)}
    ?disabled=${isDisabled}
    aria-invalid=${problem !== ''}
    aria-describedby="${id}-about ${id}-problem"
    .defaultValue=${text}
    @input=${(event: Event) => onText(readText(event))}
  ></textarea>`
}

function switchView({ id, value, problem, isDisabled, onChange }: FieldViewOptions) {
  return html`<input
    class="switch"
    id=${id}
    type="checkbox"
    role="switch"
    ?disabled=${isDisabled}
    aria-invalid=${problem !== ''}
    aria-describedby="${id}-about ${id}-problem"
    .checked=${live(value === true)}
    @change=${(event: Event) => onChange(isChecked(event))}
  />`
}

function selectView({ field, id, value, problem, isDisabled, onChange }: FieldViewOptions) {
  const current = textOf(value)
  const isKnown = field.options.some(option => option.value === current)
  const options = isKnown
    ? field.options
    : [{ value: current, label: current || 'Choose…' }, ...field.options]
  return html`<select
    class="field"
    id=${id}
    ?disabled=${isDisabled}
    aria-invalid=${problem !== ''}
    aria-describedby="${id}-about ${id}-problem"
    @change=${(event: Event) => onChange(readText(event))}
  >
    ${options.map(
      option =>
        html`<option value=${option.value} .selected=${option.value === current}>${option.label}</option>`
    )}
  </select>`
}

/** `2026-11-22T14:05` in the time zone of the browser; '' for 0. */
function toLocalTime(value: unknown): string {
  if (typeof value !== 'number' || value === 0) return ''
  const offsetMs = new Date(value * 1_000).getTimezoneOffset() * 60_000
  return new Date(value * 1_000 - offsetMs).toISOString().slice(0, 16)
}

const toUnixSeconds = (text: string): number => (text === '' ? 0 : Math.floor(Date.parse(text) / 1_000))
