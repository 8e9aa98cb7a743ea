/** Scripts are imported as text, which also puts them inside the executable. */
declare module "*.lua" {
  const text: string;
  export default text;
}
