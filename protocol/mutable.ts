/** The same members, for whoever builds the object and lets nobody else see it before it is whole. */
export type Mutable<T> = { -readonly [K in keyof T]: T[K] };
