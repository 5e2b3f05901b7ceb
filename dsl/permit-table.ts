/**
 * Every intrinsic that exists in the guest, by name (S-22). What is not named here is deleted before a script runs; a
 * newer engine's additions stay away until somebody has looked at them and named them.
 *
 * Keys are paths from the global object, or `%name%` for objects that have no path. Values are the own properties that
 * stay; `@@` marks well-known symbols. `length`, `name` and `prototype` of a function always stay.
 */

const GLOBAL_FUNCTIONS =
  'parseFloat parseInt decodeURI decodeURIComponent encodeURI encodeURIComponent escape unescape eval isFinite isNaN';
const NATIVE_ERRORS = ['EvalError', 'RangeError', 'ReferenceError', 'SyntaxError', 'TypeError', 'URIError'];
const TYPED_ARRAYS = [
  ...['Uint8Array', 'Int8Array', 'Uint16Array', 'Int16Array', 'Uint32Array', 'Int32Array', 'Uint8ClampedArray'],
  ...['BigUint64Array', 'BigInt64Array', 'Float16Array', 'Float32Array', 'Float64Array'],
];

/** Globals that are deleted on purpose; named so that a test can tell them from ones nobody has looked at. */
export const REFUSED_GLOBALS =
  'Atomics FinalizationRegistry SharedArrayBuffer WeakRef WebAssembly console Temporal ShadowRealm'.split(' ');

/** Properties that are deleted on purpose: legacy state of RegExp, engine extensions, the clock. */
export const REFUSED_PROPERTIES: Readonly<Record<string, string>> = {
  RegExp: "input $_ lastMatch $& lastParen $+ leftContext $` rightContext $' $1 $2 $3 $4 $5 $6 $7 $8 $9",
  'Function.prototype': 'arguments caller',
  Intl: 'v8BreakIterator',
};

function sameFor(names: readonly string[], own: Readonly<Record<string, string>>): Record<string, string> {
  const entries: Record<string, string> = {};
  for (const name of names) for (const suffix in own) entries[name + suffix] = own[suffix] as string;
  return entries;
}

export const PERMITTED: Readonly<Record<string, string>> = {
  globalThis: [
    'globalThis Infinity NaN undefined Object Function Array Number Boolean String Symbol Date Promise RegExp BigInt',
    'Error AggregateError SuppressedError JSON Math Intl ArrayBuffer DataView Map Set WeakMap WeakSet Iterator Proxy Reflect',
    'DisposableStack AsyncDisposableStack',
    GLOBAL_FUNCTIONS,
    NATIVE_ERRORS.join(' '),
    TYPED_ARRAYS.join(' '),
  ].join(' '),

  Object:
    'assign getOwnPropertyDescriptor getOwnPropertyDescriptors getOwnPropertyNames getOwnPropertySymbols hasOwn is preventExtensions seal create defineProperties defineProperty freeze getPrototypeOf setPrototypeOf isExtensible isFrozen isSealed keys entries fromEntries values groupBy',
  'Object.prototype':
    'constructor __defineGetter__ __defineSetter__ hasOwnProperty __lookupGetter__ __lookupSetter__ isPrototypeOf propertyIsEnumerable toString valueOf __proto__ toLocaleString',
  Function: '',
  'Function.prototype': 'constructor apply bind call toString @@hasInstance',
  '%AsyncFunction%': '',
  '%AsyncFunction.prototype%': 'constructor @@toStringTag',
  '%GeneratorFunction%': '',
  '%GeneratorFunction.prototype%': 'prototype constructor @@toStringTag',
  '%GeneratorPrototype%': 'constructor next return throw @@toStringTag',
  '%AsyncGeneratorFunction%': '',
  '%AsyncGeneratorFunction.prototype%': 'prototype constructor @@toStringTag',
  '%AsyncGeneratorPrototype%': 'constructor next return throw @@toStringTag',
  '%AsyncIteratorPrototype%': '@@asyncIterator @@asyncDispose',

  Array: 'isArray from fromAsync of @@species',
  'Array.prototype':
    'length constructor at concat copyWithin fill find findIndex findLast findLastIndex lastIndexOf pop push reverse shift unshift slice sort splice includes indexOf join keys entries values forEach filter flat flatMap map every some reduce reduceRight toReversed toSorted toSpliced with toLocaleString toString @@iterator @@unscopables',
  'Array.prototype.@@unscopables':
    'at copyWithin entries fill find findIndex findLast findLastIndex flat flatMap includes keys toReversed toSorted toSpliced values',
  Number:
    'isFinite isInteger isNaN isSafeInteger parseFloat parseInt MAX_VALUE MIN_VALUE NaN NEGATIVE_INFINITY POSITIVE_INFINITY MAX_SAFE_INTEGER MIN_SAFE_INTEGER EPSILON',
  'Number.prototype': 'constructor toExponential toFixed toPrecision toString valueOf toLocaleString',
  Boolean: '',
  'Boolean.prototype': 'constructor toString valueOf',
  BigInt: 'asUintN asIntN',
  'BigInt.prototype': 'constructor toLocaleString toString valueOf @@toStringTag',
  String: 'fromCharCode fromCodePoint raw',
  'String.prototype':
    'length constructor anchor at big blink bold charAt charCodeAt codePointAt concat endsWith fontcolor fontsize fixed includes indexOf isWellFormed italics lastIndexOf link localeCompare match matchAll normalize padEnd padStart repeat replace replaceAll search slice small split strike sub substr substring sup startsWith toString toWellFormed trim trimStart trimLeft trimEnd trimRight toLocaleLowerCase toLocaleUpperCase toLowerCase toUpperCase valueOf @@iterator',
  Symbol:
    'for keyFor asyncIterator hasInstance isConcatSpreadable iterator match matchAll replace search species split toPrimitive toStringTag unscopables dispose asyncDispose',
  'Symbol.prototype': 'constructor toString valueOf description @@toStringTag @@toPrimitive',
  RegExp: 'escape @@species',
  'RegExp.prototype':
    'constructor exec dotAll flags global hasIndices ignoreCase multiline source sticky unicode unicodeSets compile toString test @@match @@matchAll @@replace @@search @@split',
  Date: 'now parse UTC',
  'Date.prototype':
    'constructor toString toDateString toTimeString toISOString toUTCString toGMTString getDate setDate getDay getFullYear setFullYear getHours setHours getMilliseconds setMilliseconds getMinutes setMinutes getMonth setMonth getSeconds setSeconds getTime setTime getTimezoneOffset getUTCDate setUTCDate getUTCDay getUTCFullYear setUTCFullYear getUTCHours setUTCHours getUTCMilliseconds setUTCMilliseconds getUTCMinutes setUTCMinutes getUTCMonth setUTCMonth getUTCSeconds setUTCSeconds valueOf getYear setYear toJSON toLocaleString toLocaleDateString toLocaleTimeString @@toPrimitive',
  Promise: 'all allSettled any race resolve reject withResolvers try @@species',
  'Promise.prototype': 'constructor then catch finally @@toStringTag',
  Proxy: 'revocable',
  Reflect:
    'defineProperty deleteProperty apply construct get getOwnPropertyDescriptor getPrototypeOf has isExtensible ownKeys preventExtensions set setPrototypeOf @@toStringTag',
  JSON: 'parse stringify rawJSON isRawJSON @@toStringTag',
  Math: 'abs acos acosh asin asinh atan atanh atan2 ceil cbrt expm1 clz32 cos cosh exp floor fround hypot imul log log1p log2 log10 max min pow random round sign sin sinh sqrt tan tanh trunc E LN10 LN2 LOG10E LOG2E PI SQRT1_2 SQRT2 f16round @@toStringTag',

  Error: 'captureStackTrace isError stackTraceLimit',
  'Error.prototype': 'constructor name message toString',
  ...sameFor([...NATIVE_ERRORS, 'AggregateError', 'SuppressedError'], {
    '': '',
    '.prototype': 'constructor name message',
  }),

  Map: 'groupBy @@species',
  'Map.prototype': 'constructor get set has delete clear entries forEach keys size values @@toStringTag @@iterator',
  Set: '@@species',
  'Set.prototype':
    'constructor has add delete difference clear entries forEach intersection isSubsetOf isSupersetOf isDisjointFrom size symmetricDifference union values keys @@toStringTag @@iterator',
  WeakMap: '',
  'WeakMap.prototype': 'constructor delete get set has @@toStringTag',
  WeakSet: '',
  'WeakSet.prototype': 'constructor delete has add @@toStringTag',

  Iterator: 'from',
  'Iterator.prototype':
    'constructor reduce toArray forEach some every find map filter take drop flatMap @@iterator @@toStringTag @@dispose',
  '%ArrayIteratorPrototype%': 'next @@toStringTag',
  '%MapIteratorPrototype%': 'next @@toStringTag',
  '%SetIteratorPrototype%': 'next @@toStringTag',
  '%StringIteratorPrototype%': 'next @@toStringTag',
  '%RegExpStringIteratorPrototype%': 'next @@toStringTag',
  '%IteratorHelperPrototype%': 'next return @@toStringTag',
  '%WrapForValidIteratorPrototype%': 'next return',

  ArrayBuffer: 'isView @@species',
  'ArrayBuffer.prototype':
    'constructor byteLength slice maxByteLength resizable resize transfer transferToFixedLength detached @@toStringTag',
  DataView: '',
  'DataView.prototype':
    'constructor buffer byteLength byteOffset getInt8 setInt8 getUint8 setUint8 getInt16 setInt16 getUint16 setUint16 getInt32 setInt32 getUint32 setUint32 getFloat32 setFloat32 getFloat64 setFloat64 getBigInt64 setBigInt64 getBigUint64 setBigUint64 getFloat16 setFloat16 @@toStringTag',
  '%TypedArray%': 'of from @@species',
  '%TypedArray.prototype%':
    'constructor buffer byteLength byteOffset length entries keys values at copyWithin every fill filter find findIndex findLast findLastIndex forEach includes indexOf join lastIndexOf map reverse reduce reduceRight set slice some sort subarray toReversed toSorted with toLocaleString toString @@toStringTag @@iterator',
  ...sameFor(TYPED_ARRAYS, { '': 'BYTES_PER_ELEMENT', '.prototype': 'constructor BYTES_PER_ELEMENT' }),

  DisposableStack: '',
  'DisposableStack.prototype': 'constructor use dispose adopt defer move disposed @@dispose @@toStringTag',
  AsyncDisposableStack: '',
  'AsyncDisposableStack.prototype':
    'constructor use disposeAsync adopt defer move disposed @@asyncDispose @@toStringTag',

  Intl: 'getCanonicalLocales supportedValuesOf DateTimeFormat NumberFormat Collator PluralRules RelativeTimeFormat ListFormat Locale DisplayNames Segmenter DurationFormat @@toStringTag',
  'Intl.Locale': '',
  'Intl.Locale.prototype':
    'constructor toString maximize minimize language script region baseName calendar caseFirst collation firstDayOfWeek hourCycle numeric numberingSystem calendars collations hourCycles numberingSystems textInfo timeZones weekInfo getCalendars getCollations getHourCycles getNumberingSystems getTimeZones getTextInfo getWeekInfo @@toStringTag',
  ...sameFor(['Intl.DateTimeFormat', 'Intl.NumberFormat'], {
    '': 'supportedLocalesOf',
    '.prototype': 'constructor resolvedOptions formatToParts format formatRange formatRangeToParts @@toStringTag',
  }),
  ...sameFor(['Intl.RelativeTimeFormat', 'Intl.ListFormat', 'Intl.DurationFormat'], {
    '': 'supportedLocalesOf',
    '.prototype': 'constructor resolvedOptions format formatToParts @@toStringTag',
  }),
  'Intl.Collator': 'supportedLocalesOf',
  'Intl.Collator.prototype': 'constructor resolvedOptions compare @@toStringTag',
  'Intl.PluralRules': 'supportedLocalesOf',
  'Intl.PluralRules.prototype': 'constructor resolvedOptions select selectRange @@toStringTag',
  'Intl.DisplayNames': 'supportedLocalesOf',
  'Intl.DisplayNames.prototype': 'constructor resolvedOptions of @@toStringTag',
  'Intl.Segmenter': 'supportedLocalesOf',
  'Intl.Segmenter.prototype': 'constructor resolvedOptions segment @@toStringTag',
  '%SegmentsPrototype%': 'containing @@iterator',
  '%SegmentIteratorPrototype%': 'next @@toStringTag',
};
